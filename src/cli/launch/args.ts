// The command line of `npx weir demo` and the variables of its gateway. Invariants: the environment overrides defaults, in
// both Workers; an invalid value ends the start.

import * as z from 'zod'
import { err, ok, type Result } from '../../core/result.ts'
import { Switch } from '../../core/variables.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { CHAIN_ID, DECIMALS, NAME, SELLER, SYMBOL, TOKEN, VERSION } from '../../devnet/evm/token.ts'
import { parseChains } from '../../rpc/chains.ts'
import { secretNames } from '../../upstream/secret-headers.ts'

/** Size of the simulated exchange, as defined by devnet. */
export const ScaleName = z.enum(['small', 'mainnet'], 'must be small or mainnet')

/** Parsed command-line options. */
export interface LaunchArgs {
  readonly state: string
  readonly reset?: true | undefined
  readonly open?: true | undefined
  readonly json?: true | undefined
  readonly seed?: number | undefined
  readonly blockMs?: number | undefined
  readonly scale?: z.infer<typeof ScaleName> | undefined
  readonly keep?: number | undefined
}

export interface LaunchOptions extends LaunchArgs {
  /** The option that other commands need to find this launch. */
  readonly stateOption: string
  /** Port of the gateway; 0 uses the previous port, or a free port. */
  readonly port: number
  /** Size of the archive in MB. */
  readonly keep: number
  /** Arguments for devnet. */
  readonly devnet: readonly string[]
}

const DEFAULT_STATE = '.weir'
const DEFAULT_PORT = 8787
/** Keeps a demo below 500 MB in total. */
export const DEFAULT_KEEP_MB = 100
const Port = wholeNumber(0, 65_535)

/** Combines the arguments and the variable `PORT`. Other variables belong to the gateway. */
export function launchOptions(
  args: LaunchArgs,
  env: Readonly<Record<string, string | undefined>>,
): Result<LaunchOptions, string> {
  const wrong = variableError(env)
  if (wrong !== null) return err(`${wrong}.`)
  const port = env.PORT
  const number = Port.safeParse(port || String(DEFAULT_PORT))
  if (!number.success) return err(`PORT is ${JSON.stringify(port)}, but it ${number.error.issues[0]?.message}.`)
  const { state, seed, blockMs, scale, keep = DEFAULT_KEEP_MB } = args
  const devnet = Object.entries({ '--seed': seed, '--block-ms': blockMs, '--scale': scale })
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [name, String(value)])
  return ok({ ...args, stateOption: stateOption(state), port: number.data, keep, devnet })
}

/** The option that selects this state folder, with a leading space. It is empty for the default folder. */
export function stateOption(state: string): string {
  return state === DEFAULT_STATE ? '' : ` --state ${quoted(state)}`
}

/** Quotes a string as one word for a shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

export interface GatewayVariables {
  readonly vars: Readonly<Record<string, string>>
  /** Variables of the live and jobs Workers. */
  readonly objectVars: Readonly<Record<string, string>>
}

/** Demo prices; the operator marks orders as paid. */
const PRICES = JSON.stringify({
  currency: 'usd',
  packages: [
    { name: 'small', credits: 100_000, minor: 1_900 },
    { name: 'large', credits: 1_000_000, minor: 14_900 },
  ],
  lots: { credits: 10_000, minor: 200, most: 1_000 },
  instructions: 'Nothing is paid in this trial. Sign in as operator and mark the order as paid.',
})

/** The seller of the demo. */
const INVOICE = JSON.stringify({
  seller: {
    name: 'Demo Data GmbH',
    address: ['Musterstraße 1', '10115 Berlin', 'Germany'],
    taxId: 'DE000000000',
    contact: 'billing@example.com',
  },
  dueDays: 14,
  tax: { name: 'VAT', rate: '19', included: true },
  note: 'This invoice is a demonstration. Nothing is owed.',
})

/**
 * The account that pays for visitors to /live who have no session, so that the demo account shows only its own usage.
 */
export const LIVE_ACCOUNT = 'live'

type Environment = Readonly<Record<string, string | undefined>>

/** `node` is the URL of the simulated exchange. */
export function gatewayVariables(env: Environment, node: string, keepMb: string): Result<GatewayVariables, string> {
  const wrong = variableError(env)
  if (wrong !== null) return err(wrong)
  const shared = {
    PIPELINE_PRIVATE: env.PIPELINE_PRIVATE || 'on',
    RPC_CHAINS: env.RPC_CHAINS || JSON.stringify([{ name: 'hyperliquid', urls: [`${node}/evm`] }]),
    X402: env.X402 || JSON.stringify(paymentNetwork(node)),
  }
  const chains = parseChains(shared.RPC_CHAINS)
  const secrets = Object.fromEntries(secretNames(chains.ok ? chains.value : []).map((name) => [name, env[name] ?? '']))
  const vars = {
    PATH_KEYS: 'on',
    TRUST_PROXY: env.TRUST_PROXY || 'off',
    LIVE_ACCOUNT,
    CHECKOUT: 'manual',
    CHECKOUT_PRICES: PRICES,
    INVOICE,
    SIGNUP: 'log',
    UPSTREAMS: JSON.stringify([{ name: 'node', url: `${node}/info` }]),
    ...shared,
    ...secrets,
  }
  return ok({ vars, objectVars: { ARCHIVE_KEEP_MB: keepMb, ...alertVariables(env), ...shared, ...secrets } })
}

/** Payments with the tokens of the simulated chain, which are worth nothing. */
const paymentNetwork = (node: string) => ({
  payTo: SELLER,
  network: `eip155:${CHAIN_ID}`,
  asset: { address: TOKEN, symbol: SYMBOL, decimals: DECIMALS, name: NAME, version: VERSION },
  facilitator: `${node}/facilitator`,
  rpcUrl: `${node}/evm`,
  creditsPerUsd: '1000',
  leastUsd: '0.005',
  multiple: '1',
  topUp: { leastUsd: '1', mostUsd: '1000' },
  plan: 'professional',
})

const alertVariables = (env: Environment) =>
  Object.fromEntries(['ALERT_URL', 'ALERT_SECRET'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])))

/** An error message or null. An empty variable counts as unset. */
function variableError(env: Environment): string | null {
  const switches = ['PIPELINE_PRIVATE', 'TRUST_PROXY'].flatMap((name) => {
    const value = Switch.safeParse(env[name] || 'off')
    return value.success ? [] : [`${name} ${value.error.issues[0]?.message}`]
  })
  const chains = parseChains(env.RPC_CHAINS || '[]')
  return [...switches, ...(chains.ok ? [] : [chains.error])].join('; ') || null
}
