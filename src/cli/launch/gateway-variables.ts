// Variables of the gateway under `npm start`, and what of them the environment may say. Law: what is said wins, in both
// Workers alike, and what is said wrongly ends the start.

import { err, ok, type Result } from '../../core/result.ts'
import { Switch } from '../../core/variables.ts'
import { parseChains } from '../../rpc/chains.ts'

export interface GatewayVariables {
  readonly vars: Readonly<Record<string, string>>
  /** Of the live Worker. */
  readonly liveVars: Readonly<Record<string, string>>
}

/** So that a top-up can be tried: the operator marks it paid. */
const PRICES = JSON.stringify({
  currency: 'usd',
  packages: [
    { name: 'small', credits: 100_000, minor: 1_900 },
    { name: 'large', credits: 1_000_000, minor: 14_900 },
  ],
  lots: { credits: 10_000, minor: 200, most: 1_000 },
  instructions: 'Nothing is paid in this trial: sign in as operator, and mark the order paid.',
})

/** Pays for visitors of /live who have not signed in, so that a trial's own account shows its own calls alone. */
export const LIVE_ACCOUNT = 'live'

type Environment = Readonly<Record<string, string | undefined>>

/** `node`: URL of the simulated exchange; an error is one sentence. */
export function gatewayVariables(said: Environment, node: string, keepMb: string): Result<GatewayVariables, string> {
  const wrong = wrongIn(said)
  if (wrong !== null) return err(wrong)
  const shared = {
    PIPELINE_PRIVATE: said.PIPELINE_PRIVATE || 'on',
    RPC_CHAINS: said.RPC_CHAINS || JSON.stringify([{ name: 'hyperliquid', urls: [`${node}/evm`] }]),
  }
  const vars = {
    PATH_KEYS: 'on',
    TRUST_PROXY: said.TRUST_PROXY || 'off',
    LIVE_ACCOUNT,
    CHECKOUT: 'manual',
    CHECKOUT_PRICES: PRICES,
    SIGNUP: 'log',
    UPSTREAMS: JSON.stringify([{ name: 'node', url: `${node}/info` }]),
    ...shared,
  }
  return ok({ vars, liveVars: { ARCHIVE_KEEP_MB: keepMb, ...shared } })
}

/** A sentence; null where nothing is wrong. An empty variable is as good as none. */
export function wrongIn(said: Environment): string | null {
  const switches = ['PIPELINE_PRIVATE', 'TRUST_PROXY'].flatMap((name) => {
    const value = Switch.safeParse(said[name] || 'off')
    return value.success ? [] : [`${name} ${value.error.issues[0]!.message}`]
  })
  const chains = parseChains(said.RPC_CHAINS || '[]')
  return [...switches, ...(chains.ok ? [] : [chains.error])].join('; ') || null
}
