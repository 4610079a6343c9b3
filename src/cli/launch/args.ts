// The command line of `npm start` and the variables of its gateway: what may be said and what that means. Invariant: what the
// environment says wins, in both Workers alike, and what is said wrongly ends the start.

import * as z from 'zod'
import { err, ok, type Result } from '../../core/result.ts'
import { Switch } from '../../core/variables.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { parseChains } from '../../rpc/chains.ts'

/** How large the exchange is; devnet says what that means. */
export const ScaleName = z.enum(['small', 'mainnet'], 'must be small or mainnet')

/** As the command line gives them. */
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
  /** What other commands say to find this launch. */
  readonly stateOption: string
  /** Of the gateway; 0 takes the one of the last start, or a free one. */
  readonly port: number
  /** How much of the archive is kept. */
  readonly keep: number
  /** Arguments handed on to devnet. */
  readonly devnet: readonly string[]
}

const DEFAULT_STATE = '.weir'
const DEFAULT_PORT = 8787
/** With all else a demo stays below 500 MB. */
export const DEFAULT_KEEP_MB = 100
const Port = wholeNumber(0, 65_535)

/** What the arguments and the `PORT` variable mean; an error is one sentence. Other variables are the gateway's. */
export function launchOptions(
  args: LaunchArgs,
  env: Readonly<Record<string, string | undefined>>,
): Result<LaunchOptions, string> {
  const wrong = variableError(env)
  if (wrong !== null) return err(`${wrong}.`)
  const port = env.PORT
  const number = Port.safeParse(port || String(DEFAULT_PORT))
  if (!number.success) return err(`PORT is ${JSON.stringify(port)}: it ${number.error.issues[0]?.message}.`)
  const { state, seed, blockMs, scale, keep = DEFAULT_KEEP_MB } = args
  const devnet = Object.entries({ '--seed': seed, '--block-ms': blockMs, '--scale': scale })
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [name, String(value)])
  return ok({ ...args, stateOption: stateOption(state), port: number.data, keep, devnet })
}

/** What a command says to find this state folder, with a space before; empty for the default one. */
export function stateOption(state: string): string {
  return state === DEFAULT_STATE ? '' : ` --state ${quoted(state)}`
}

/** As a shell reads it as one word. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

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
export function gatewayVariables(env: Environment, node: string, keepMb: string): Result<GatewayVariables, string> {
  const wrong = variableError(env)
  if (wrong !== null) return err(wrong)
  const shared = {
    PIPELINE_PRIVATE: env.PIPELINE_PRIVATE || 'on',
    RPC_CHAINS: env.RPC_CHAINS || JSON.stringify([{ name: 'hyperliquid', urls: [`${node}/evm`] }]),
  }
  const vars = {
    PATH_KEYS: 'on',
    TRUST_PROXY: env.TRUST_PROXY || 'off',
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
function variableError(said: Environment): string | null {
  const switches = ['PIPELINE_PRIVATE', 'TRUST_PROXY'].flatMap((name) => {
    const value = Switch.safeParse(said[name] || 'off')
    return value.success ? [] : [`${name} ${value.error.issues[0]?.message}`]
  })
  const chains = parseChains(said.RPC_CHAINS || '[]')
  return [...switches, ...(chains.ok ? [] : [chains.error])].join('; ') || null
}
