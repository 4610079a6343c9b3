// The command line of `npm start`.

import { err, ok, type Result } from '../core/result.ts'

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
const DEVNET_OPTIONS = new Set(['--seed', '--block-ms'])
const USAGE = 'Options: --state DIR, --reset, --json, --seed N, --block-ms N; PORT in the environment changes the port.'

/** Reads the arguments and the `PORT` variable; an error is one sentence. */
export function parseLaunchArgs(args: readonly string[], port: string | undefined): Result<LaunchOptions, string> {
  const options = { state: '.weir', reset: false, json: false, devnet: [] as string[] }
  for (let i = 0; i < args.length; i++) {
    const name = args[i]!
    if (name === '--reset') options.reset = true
    else if (name === '--json') options.json = true
    else if (name === '--state' || DEVNET_OPTIONS.has(name)) {
      const value = args[++i]
      if (!value) return err(`${name} needs a value. ${USAGE}`)
      if (name === '--state') options.state = value
      else if (/^\d{1,9}$/.test(value)) options.devnet.push(name, value)
      else return err(`${name} takes a whole number, not ${JSON.stringify(value)}.`)
    } else return err(`Unknown option ${JSON.stringify(name)}. ${USAGE}`)
  }
  const number = port === undefined || port === '' ? DEFAULT_PORT : Number(port)
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    return err(`PORT is ${JSON.stringify(port)}; it must be a number from 0 to 65535.`)
  return ok({ ...options, port: number })
}
