// The public Python SDK 0.23.0, from this machine's Python or from HYPERLIQUID_PYTHON_SDK. Signing is not used, so its
// dependencies are not needed.

import { spawn, spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { bodiesOf, type Cast, isServed, PATIENCE_MS } from './cast.ts'

const PATHS = [process.env.HYPERLIQUID_PYTHON_SDK, process.env.PYTHONPATH].filter((path) => path)
const ENV = { ...process.env, PYTHONPATH: PATHS.join(delimiter), PYTHONDONTWRITEBYTECODE: '1' }

/** Modules that it needs, and where they come from. */
const NEEDED = {
  requests: "Debian's python3-requests",
  websocket: "Debian's python3-websocket",
  'hyperliquid.api': 'hyperliquid-python-sdk==0.23.0, or a copy of it that HYPERLIQUID_PYTHON_SDK names',
}

/** Null, or what is not installed. */
export function missingPython(): string | null {
  const find =
    'import importlib, sys\nfor name in sys.argv[1:]:\n  try: importlib.import_module(name)\n  except ImportError: print(name)'
  const { status, stdout } = spawnSync('python3', ['-c', find, ...Object.keys(NEEDED)], { env: ENV, encoding: 'utf8' })
  if (status !== 0) return 'python3 is not installed'
  const missing = Object.entries(NEEDED).filter(([name]) => stdout.split('\n').includes(name))
  return missing.length === 0 ? null : `not installed: ${missing.map(([, place]) => place).join('; ')}`
}

/** The `type` of every subscription that it knows. */
export const CHANNELS_OF_PYTHON = [
  ...['allMids', 'bbo', 'l2Book', 'trades', 'userEvents', 'userFills', 'candle', 'orderUpdates', 'userFundings'],
  ...['userNonFundingLedgerUpdates', 'webData2', 'activeAssetCtx', 'activeAssetData'],
]

const infoOf = ({ maker, takers: [taker], oid }: Cast): Readonly<Record<string, readonly unknown[]>> => ({
  user_state: [maker],
  spot_user_state: [maker],
  open_orders: [maker],
  frontend_open_orders: [maker],
  all_mids: [],
  user_fills: [maker],
  user_fills_by_time: [maker, 0],
  meta: [],
  meta_and_asset_ctxs: [],
  perp_dexs: [],
  spot_meta: [],
  spot_meta_and_asset_ctxs: [],
  funding_history: ['BTC', 0],
  user_funding_history: [maker, 0],
  l2_snapshot: ['BTC'],
  candles_snapshot: ['BTC', '1m', 0, Date.now()],
  user_fees: [maker],
  user_staking_summary: [maker],
  user_staking_delegations: [maker],
  user_staking_rewards: [maker],
  delegator_history: [maker],
  query_order_by_oid: [taker, oid],
  query_referral_state: [maker],
  query_sub_accounts: [maker],
  query_user_to_multi_sig_signers: [maker],
  query_perp_deploy_auction_status: [],
  query_user_dex_abstraction_state: [maker],
  query_user_abstraction_state: [maker],
  historical_orders: [maker],
  user_non_funding_ledger_updates: [maker, 0],
  portfolio: [maker],
  user_twap_slice_fills: [maker],
  user_vault_equities: [maker],
  user_role: [maker],
  user_rate_limit: [maker],
  query_spot_deploy_auction_status: [maker],
  extra_agents: [maker],
})

/** Names of the failed ones. */
export async function pythonFailures(cast: Cast): Promise<unknown> {
  const child = spawn('python3', [join(import.meta.dirname, 'python_sdk.py')], { env: ENV })
  let output = ''
  let errors = ''
  child.stdout.on('data', (text) => (output += text))
  child.stderr.on('data', (text) => (errors += text))
  const channels = CHANNELS_OF_PYTHON.filter(isServed).map((type) => [type, bodiesOf(type, cast)])
  const task = {
    url: cast.url,
    seconds: PATIENCE_MS / 1_000,
    methods: infoOf(cast),
    channels: Object.fromEntries(channels),
  }
  child.stdin.end(JSON.stringify(task))
  await new Promise((resolve) => child.on('close', resolve))
  const last = output.trim().split('\n').at(-1)
  if (!last?.startsWith('{')) throw new Error(errors.slice(-1_000))
  return JSON.parse(last)
}
