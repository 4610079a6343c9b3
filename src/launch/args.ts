// The command line of `npm start`: what it may say and what that means.

import { err, ok, type Result } from '../core/result.ts'
import { wholeNumber } from '../core/whole-number.ts'

export const LAUNCH_ARGS = {
  state: { type: 'string' },
  reset: { type: 'boolean' },
  json: { type: 'boolean' },
  seed: { type: 'string' },
  'block-ms': { type: 'string' },
} as const
export const LAUNCH_USAGE =
  'Options: --state DIR, --reset, --json, --seed N, --block-ms N; PORT in the environment changes the port.'

type LaunchArgs = {
  readonly [Name in keyof typeof LAUNCH_ARGS]?:
    | ((typeof LAUNCH_ARGS)[Name]['type'] extends 'string' ? string : boolean)
    | undefined
}

export interface LaunchOptions {
  /** State folder, as given. */
  readonly state: string
  /** What other commands say to find this launch, with a space before; empty for the default folder. */
  readonly stateOption: string
  readonly reset: boolean
  readonly json: boolean
  /** Port of the gateway; 0 takes the one of the last start, or a free one. */
  readonly port: number
  /** Arguments handed on to devnet. */
  readonly devnet: readonly string[]
}

const DEFAULT_STATE = '.weir'
const DEFAULT_PORT = 8787
/** As devnet reads them. */
const DEVNET_OPTIONS = { seed: wholeNumber(0, 999_999_999), 'block-ms': wholeNumber(1, 60_000) }
const Port = wholeNumber(0, 65_535)

/** Judges the arguments and the `PORT` variable; an error is one sentence. */
export function launchOptions(args: LaunchArgs, port: string | undefined): Result<LaunchOptions, string> {
  const devnet: string[] = []
  for (const [name, schema] of Object.entries(DEVNET_OPTIONS)) {
    const value = args[name as keyof typeof DEVNET_OPTIONS]
    if (value === undefined) continue
    const read = schema.safeParse(value)
    if (!read.success) return err(`--${name} is ${JSON.stringify(value)}: it ${read.error.issues[0]!.message}.`)
    devnet.push(`--${name}`, value)
  }
  const number = Port.safeParse(port || String(DEFAULT_PORT))
  if (!number.success) return err(`PORT is ${JSON.stringify(port)}: it ${number.error.issues[0]!.message}.`)
  const { state = DEFAULT_STATE, reset = false, json = false } = args
  const stateOption = state === DEFAULT_STATE ? '' : ` --state ${quoted(state)}`
  return ok({ state, stateOption, reset, json, port: number.data, devnet })
}

/** As a shell reads it as one word. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
