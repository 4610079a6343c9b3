// `npm run feed -- --data DIR --info URL --gateway URL --token T`: one feeder as a process.
// Standard error carries one status line a second: rewritten in place in a terminal, JSON lines otherwise.

import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
import { Feeder, type FeederOptions } from './feeder.node.ts'
import { statusLine } from './status.ts'

const USAGE = `Usage: npm run feed -- --data DIR --info URL --gateway URL --token TOKEN
  --data DIR           the node's data folder (holds node_fills_by_block and so on)
  --info URL           the node's HTTP, for order-level snapshots
  --gateway URL        where to push blocks
  --token TOKEN        the gateway's FEED_TOKEN (or set FEED_TOKEN)
  --state DIR          checkpoints (default: feeder, beside the data folder)
  --chain NAME         default: hyperliquid
  --name NAME          this feeder's name (default: the host's)
  --snapshot-dir DIR   where the node writes snapshots for us (default: snapshots in the state folder)
  --verify-seconds N   compare books with the node's this often (default: 600)
  --checkpoint-seconds N  (default: 30)`

const url = z.url({ protocol: /^(?:https?|wss?)$/, error: 'must be a URL' })
const Arguments = z.object({
  data: z.string().min(1),
  info: url,
  gateway: url,
  token: z.string().min(1),
  state: z.string().optional(),
  chain: z.string().min(1).max(32).default('hyperliquid'),
  name: z.string().min(1).max(64).optional(),
  'snapshot-dir': z.string().optional(),
  'verify-seconds': z.coerce.number().positive().default(600),
  'checkpoint-seconds': z.coerce.number().positive().default(30),
})

function readOptions(): FeederOptions {
  const options = Object.fromEntries(
    Object.keys(Arguments.shape).map((name) => [name, { type: 'string' as const }]),
  ) as Record<string, { type: 'string' }>
  const { values } = commandLine(options, USAGE)
  const read = Arguments.safeParse({ ...values, token: values.token ?? process.env.FEED_TOKEN })
  if (!read.success) {
    const issue = read.error.issues[0]!
    refuseArgs(`--${issue.path.join('.')}: ${issue.code === 'invalid_type' ? 'is missing' : issue.message}`, USAGE)
  }
  const { data } = read
  const stateDir = resolve(data.state ?? join(dirname(resolve(data.data)), 'feeder'))
  return {
    dataDir: resolve(data.data),
    infoUrl: data.info,
    gatewayUrl: data.gateway,
    token: data.token,
    chain: data.chain,
    name: data.name ?? hostname().slice(0, 64),
    stateDir,
    snapshotDir: resolve(data['snapshot-dir'] ?? join(stateDir, 'snapshots')),
    verifyMs: data['verify-seconds'] * 1000,
    checkpointMs: data['checkpoint-seconds'] * 1000,
  }
}

async function main(): Promise<void> {
  const options = readOptions()
  const terminal = process.stderr.isTTY === true
  const say = (sentence: string) =>
    process.stderr.write(terminal ? `\r\x1b[2K${sentence}\n` : `${JSON.stringify({ say: sentence })}\n`)
  const feeder = new Feeder(options, say, Math.random)
  const timer = setInterval(() => {
    const status = feeder.status(Date.now())
    process.stderr.write(terminal ? `\r\x1b[2K${statusLine(status)}` : `${JSON.stringify({ status })}\n`)
  }, 1_000)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => feeder.stop())
  process.exitCode = await feeder.run()
  clearInterval(timer)
  if (terminal) process.stderr.write('\n')
}

await main()
