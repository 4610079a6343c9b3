// The command line of `npm start`: what it may say and what that means.

import * as z from 'zod'
import { err, ok, type Result } from '../../core/result.ts'
import { wholeNumber } from '../../core/whole-number.ts'
import { wrongIn } from './gateway-variables.ts'

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
  said: Readonly<Record<string, string | undefined>>,
): Result<LaunchOptions, string> {
  const wrong = wrongIn(said)
  if (wrong !== null) return err(`${wrong}.`)
  const port = said.PORT
  const number = Port.safeParse(port || String(DEFAULT_PORT))
  if (!number.success) return err(`PORT is ${JSON.stringify(port)}: it ${number.error.issues[0]!.message}.`)
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
