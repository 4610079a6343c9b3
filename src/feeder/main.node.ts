// `npm run feed -- --data DIR --info URL --gateway URL --token T`: one feeder as a process. Writes one status line per
// second to standard error: in place on a terminal, otherwise as JSON lines.

import { hostname } from 'node:os'
import { commandLine, failUsage } from '../core/command-line.node.ts'
import { visibleLines } from '../core/visible.ts'
import { Feeder } from './feeder.node.ts'
import { FEED, feederOptions } from './feeder-options.node.ts'
import { statusLine } from './status.ts'

async function main(): Promise<void> {
  const line = commandLine(FEED)
  const values = FEED.options.map((option) => [option.name(), line.getOptionValue(option.attributeName())])
  const options = feederOptions(Object.fromEntries(values), process.env, hostname())
  if (!options.ok) failUsage(FEED, options.error)
  const terminal = process.stderr.isTTY === true
  const log = (message: string) =>
    process.stderr.write(terminal ? `\r\x1b[2K${visibleLines(message)}\n` : `${JSON.stringify({ say: message })}\n`)
  const feeder = new Feeder(options.value, log, Math.random)
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
