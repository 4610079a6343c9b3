// `weir feed`: one feeder as a process. Writes one status line per second to standard
// error: in place on a terminal, otherwise as JSON lines.

import { hostname } from 'node:os'
import type { Command } from '@commander-js/extra-typings'
import { type AnyCommand, failUsage, program } from '../core/command-line.node.ts'
import { visibleLines } from '../core/visible.ts'
import { Feeder } from './feeder.node.ts'
import { addFeederOptions, feederOptions } from './feeder-options.node.ts'
import { statusLine } from './status.ts'

/** `name`: the command that starts it. */
export function feedProgram(name: string): AnyCommand {
  const command = program(name, 'read the files that a node writes, and send its blocks to a gateway', [
    '--data ~/hl/data --info http://127.0.0.1:3001 --gateway https://weir.example.workers.dev',
  ])
  return addFeederOptions(command).action(() => feed(command))
}

async function feed(command: Command): Promise<void> {
  const values = command.options.map((option) => [option.name(), command.getOptionValue(option.attributeName())])
  const options = feederOptions(Object.fromEntries(values), process.env, hostname())
  if (!options.ok) failUsage(command, options.error)
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
