// Every command of every program, as the programs themselves have them.

import { expect, it, test } from 'vitest'
import { adminProgram } from '../../src/cli/admin.node.ts'
import { progressMeter } from '../../src/cli/backfill/progress-meter.node.ts'
import { backfillProgram } from '../../src/cli/backfill.node.ts'
import { booksProgram } from '../../src/cli/books.node.ts'
import { deployProgram } from '../../src/cli/deploy/deploy.node.ts'
import { exportProgram } from '../../src/cli/export.node.ts'
import { importProgram } from '../../src/cli/import.node.ts'
import { keysProgram } from '../../src/cli/keys.node.ts'
import { payProgram } from '../../src/cli/pay.node.ts'
import { replayProgram } from '../../src/cli/replay.node.ts'
import type { Shell } from '../../src/cli/shell.node.ts'
import { watchProgram } from '../../src/cli/watch.node.ts'
import { type AnyCommand, examplesOf } from '../../src/core/command-line.node.ts'
import { devnetProgram } from '../../src/devnet/devnet.node.ts'
import { feedProgram } from '../../src/feeder/feed.node.ts'
import { say } from './stub.ts'

const NOWHERE: Shell = { env: {}, now: () => 0, wait: async () => {}, print: () => {}, note: () => {}, fail: () => {} }
const backfill = backfillProgram(NOWHERE, progressMeter())
const PROGRAMS = [
  adminProgram(NOWHERE),
  keysProgram(NOWHERE),
  backfill,
  deployProgram(NOWHERE, async () => false),
  booksProgram(NOWHERE),
  exportProgram(NOWHERE),
  importProgram(NOWHERE),
  payProgram(NOWHERE),
  watchProgram(NOWHERE),
  replayProgram(NOWHERE),
  feedProgram('npx weir feed'),
  devnetProgram('npx weir devnet'),
] as unknown as AnyCommand[]

const within = (command: AnyCommand): AnyCommand[] => [command, ...command.commands.flatMap(within)]
const pathOf = (command: AnyCommand): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
const rootOf = (command: AnyCommand): AnyCommand => (command.parent === null ? command : rootOf(command.parent))
const commands = PROGRAMS.flatMap(within)
const leaves = commands.filter((command) => command.commands.length === 0)

test('are there', () => {
  expect(leaves.length).toBeGreaterThan(20)
})

it.each(commands.map((command) => [pathOf(command), command] as const))(
  '%s says what it is, all of it',
  (_, command) => {
    expect(command.description()).not.toBe('')
    for (const { description } of [...command.options, ...command.registeredArguments]) expect(description).not.toBe('')
    expect(examplesOf(command).length).toBeGreaterThan(0)
  },
)

it.each(leaves.flatMap((leaf) => examplesOf(leaf).map((example) => [example, leaf] as const)))(
  '%s is a line that runs that command',
  (example, leaf) => {
    const root = rootOf(leaf)
    let ran: AnyCommand | null = null
    for (const each of within(root).filter(({ commands }) => commands.length === 0))
      each.action(() => {
        ran = each
      })
    const words = example.slice(root.name().replace(/ --$/, '').length).split(' ').filter(Boolean)
    root.parse(words[0] === '--' ? words.slice(1) : words, { from: 'user' })
    expect(ran).toBe(leaf)
  },
)

test('an option of a different command is rejected by name', async () => {
  const { out, notes, failed } = await say(keysProgram, 'list --credits 5')
  expect([out, failed]).toEqual([[], true])
  expect(notes.join('')).toContain("unknown option '--credits'")
  expect(notes.join('')).toContain('Usage: npx weir keys list [options] [account]')
})
