// `npm run feed -- --data DIR --info URL --gateway URL --token T`: one feeder as a process.
// Standard error carries one status line a second: rewritten in place in a terminal, JSON lines otherwise.

import { hostname } from 'node:os'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
import { Feeder } from './feeder.node.ts'
import { FEED_OPTIONS, FEED_USAGE, feederOptions } from './feeder-options.node.ts'
import { statusLine } from './status.ts'

async function main(): Promise<void> {
  const read = feederOptions(commandLine(FEED_OPTIONS, FEED_USAGE).values, process.env, hostname())
  if (!read.ok) refuseArgs(read.error, FEED_USAGE)
  const terminal = process.stderr.isTTY === true
  const say = (sentence: string) =>
    process.stderr.write(terminal ? `\r\x1b[2K${sentence}\n` : `${JSON.stringify({ say: sentence })}\n`)
  const feeder = new Feeder(read.value, say, Math.random)
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
