// The feeder's options. An error is one sentence that names the option and the fix.

import { createHash } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { INVALID_TOKEN_MESSAGE, SECRET_MIN_LENGTH, TOKEN } from '../core/secret.ts'
import { wholeNumber } from '../core/whole-number.ts'
import type { FeederOptions } from './feeder.node.ts'

/** Adds the options, which `feederOptions` validates together with the environment. */
export function addFeederOptions(command: Command): Command {
  return command
    .option('--data <dir>', "the node's data folder (contains node_fills_by_block and others)")
    .option('--info <url>', "the node's HTTP URL, for order-level snapshots")
    .option('--gateway <url>', 'URL of the gateway')
    .option(
      '--token <token>',
      "the gateway's FEED_TOKEN; prefer the environment variable, which process lists do not show",
    )
    .option('--state <dir>', 'folder for checkpoints (default: feeder, next to the data folder)')
    .option('--chain <name>', "the gateway's CHAIN (default: hyperliquid)")
    .option('--name <name>', "this feeder's name in /status (default: feeder- and six characters of a hash)")
    .option('--snapshot-dir <dir>', 'folder where the node writes snapshots (default: snapshots in the state folder)')
    .option('--verify-seconds <n>', "seconds between comparisons with the node's books (default: 600)")
    .option('--checkpoint-seconds <n>', 'seconds between checkpoints (default: 30)') as Command
}

const addressOption = (protocol: RegExp, example: string) =>
  z.url({ protocol, error: `must be a URL such as ${example}` })

/** A number of seconds, up to one day. `0x10`, `1e9` and `0.5` are treated as typos. */
const Seconds = wholeNumber(1, 86_400)

const Arguments = z.object({
  data: z.string(),
  info: addressOption(/^https?$/, 'http://127.0.0.1:3001'),
  gateway: addressOption(/^(?:https?|wss?)$/, 'https://weir.example.workers.dev'),
  token: z
    .string()
    .min(SECRET_MIN_LENGTH, `is too short: a FEED_TOKEN has at least ${SECRET_MIN_LENGTH} characters`)
    .regex(TOKEN, INVALID_TOKEN_MESSAGE),
  state: z.string().optional(),
  chain: z.string().max(32, 'must have at most 32 characters').default('hyperliquid'),
  name: z
    .string()
    .regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters without spaces')
    .optional(),
  'snapshot-dir': z.string().optional(),
  'verify-seconds': Seconds.default(600),
  'checkpoint-seconds': Seconds.default(30),
})

type Name = keyof typeof Arguments.shape

/** `host`: this machine's name, of which only a hash is sent. */
export function feederOptions(
  values: { readonly [name in Name]?: string | undefined },
  env: { readonly FEED_TOKEN?: string | undefined },
  host: string,
): Result<FeederOptions, string> {
  const read = Arguments.safeParse({ ...values, token: values.token ?? env.FEED_TOKEN })
  if (!read.success) {
    const [{ path, code, message } = { path: [], code: '', message: '' }] = read.error.issues
    const name = path[0] === 'token' && values.token === undefined ? 'FEED_TOKEN (or --token)' : `--${path.join('.')}`
    return err(`${name} ${code === 'invalid_type' ? 'is missing' : message}.`)
  }
  const { data } = read
  const stateDir = resolve(data.state ?? join(dirname(resolve(data.data)), 'feeder'))
  return ok({
    dataDir: resolve(data.data),
    infoUrl: data.info,
    gatewayUrl: data.gateway,
    token: data.token,
    chain: data.chain,
    name: data.name ?? defaultName(host, stateDir),
    stateDir,
    snapshotDir: resolve(data['snapshot-dir'] ?? join(stateDir, 'snapshots')),
    verifyMs: data['verify-seconds'] * 1000,
    checkpointMs: data['checkpoint-seconds'] * 1000,
  })
}

/**
 * The default name of a feeder. It is the same after every restart, and different for every state folder. It reveals
 * nothing about the host, because anyone can read `/status`.
 */
function defaultName(host: string, stateDir: string): string {
  return `feeder-${createHash('sha256').update(`${host}\0${stateDir}`).digest('hex').slice(0, 6)}`
}
