// The command line of `npm start`: what it may say and what that means.

import { err, ok, type Result } from '../core/result.ts'

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
  readonly reset: boolean
  readonly json: boolean
  /** Port of the gateway; 0 takes the one of the last start, or a free one. */
  readonly port: number
  /** Arguments handed on to devnet. */
  readonly devnet: readonly string[]
}

const DEFAULT_PORT = 8787
const DEVNET_OPTIONS = ['seed', 'block-ms'] as const

/** Judges the arguments and the `PORT` variable; an error is one sentence. */
export function launchOptions(args: LaunchArgs, port: string | undefined): Result<LaunchOptions, string> {
  const devnet: string[] = []
  for (const name of DEVNET_OPTIONS) {
    const value = args[name]
    if (value === undefined) continue
    if (!/^\d{1,9}$/.test(value)) return err(`--${name} takes a whole number, not ${JSON.stringify(value)}.`)
    devnet.push(`--${name}`, value)
  }
  const number = port === undefined || port === '' ? DEFAULT_PORT : Number(port)
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    return err(`PORT is ${JSON.stringify(port)}; it must be a number from 0 to 65535.`)
  const { state = '.weir', reset = false, json = false } = args
  return ok({ state, reset, json, port: number, devnet })
}
