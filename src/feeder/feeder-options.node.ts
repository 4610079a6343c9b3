// The feeder's command line as options: what is wrong is one sentence that names the option and the fix.

import { createHash } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { program } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { INVALID_TOKEN_MESSAGE, SECRET_MIN_LENGTH, TOKEN } from '../core/secret.ts'
import { wholeNumber } from '../core/whole-number.ts'
import type { FeederOptions } from './feeder.node.ts'

/** The program. What is said is judged by `feederOptions`, together with the environment. */
export const FEED = program('npm run feed --', "a feeder beside a node: it tails the node's files and pushes blocks", [
  '--data ~/hl/data --info http://127.0.0.1:3001 --gateway https://weir.example.workers.dev',
])
  .option('--data <dir>', "the node's data folder (holds node_fills_by_block and so on)")
  .option('--info <url>', "the node's HTTP, for order-level snapshots")
  .option('--gateway <url>', 'where to push blocks')
  .option('--token <token>', "the gateway's FEED_TOKEN; better in the environment, where process lists do not show it")
  .option('--state <dir>', 'checkpoints (default: feeder, beside the data folder)')
  .option('--chain <name>', "the gateway's CHAIN (default: hyperliquid)")
  .option('--name <name>', 'how /status calls this feeder (default: feeder- and six characters that tell nothing)')
  .option('--snapshot-dir <dir>', 'where the node writes snapshots for us (default: snapshots in the state folder)')
  .option('--verify-seconds <n>', "compare books with the node's this often (default: 600)")
  .option('--checkpoint-seconds <n>', 'write a checkpoint this often (default: 30)')

const addressOption = (protocol: RegExp, words: string) =>
  z.url({ protocol, error: `must be an address such as ${words}` })

/** Up to a day; `0x10`, `1e9` and `0.5` are slips, not numbers of seconds. */
const Seconds = wholeNumber(1, 86_400)

const Arguments = z.object({
  data: z.string(),
  info: addressOption(/^https?$/, 'http://127.0.0.1:3001'),
  gateway: addressOption(/^(?:https?|wss?)$/, 'https://weir.example.workers.dev'),
  token: z
    .string()
    .min(SECRET_MIN_LENGTH, `is shorter than ${SECRET_MIN_LENGTH} characters: no gateway has such a FEED_TOKEN`)
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

/** `host` names this machine: of it only a hash is told. */
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

/** The same after every restart, another for every state folder; `/status`, which anybody reads, learns nothing. */
function defaultName(host: string, stateDir: string): string {
  return `feeder-${createHash('sha256').update(`${host}\0${stateDir}`).digest('hex').slice(0, 6)}`
}
