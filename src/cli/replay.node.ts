// `weir replay DIR`: replays recorded node data and prints the changed levels of every block. At the end it prints
// `coin height bids asks sha256` for every coin, with the hash of its full book in canonical form.

import { createHash } from 'node:crypto'
import type { AnyCommand } from '../core/command-line.node.ts'
import { openReplay } from '../feeder/replay.node.ts'
import { canonicalBook } from '../order-books/canonical.ts'
import type { Block, Level } from '../protocol/feed/block.ts'
import { type Shell, weirProgram } from './shell.node.ts'

function blockLines({ height, books }: Block): string {
  if (!books || books.length === 0) return `${height} unchanged\n`
  const side = (levels: readonly Level[]) => levels.map(({ px, sz, n }) => `${px}=${sz}/${n}`).join(' ') || '-'
  return books.map(({ coin, levels }) => `${height} ${coin} bids ${side(levels[0])} asks ${side(levels[1])}\n`).join('')
}

async function replay(folder: string): Promise<void> {
  const recorded = await openReplay(folder)
  let { height } = recorded.seed
  for await (const block of recorded.blocks()) {
    height = block.height
    process.stdout.write(blockLines(block))
  }
  for (const coin of recorded.books.coins().sort()) {
    const levels = recorded.books.levels(coin)
    const hash = createHash('sha256').update(canonicalBook(levels)).digest('hex')
    process.stdout.write(`${coin} ${height} ${levels[0].length} ${levels[1].length} ${hash}\n`)
  }
}

export function replayProgram(shell: Shell): AnyCommand {
  return weirProgram('replay', ['test/fixtures/wire/node-capture'])
    .argument('<dir>', 'folder with l4Snapshot*.json[.gz] and raw book diffs')
    .action((folder) =>
      replay(folder).catch((error: Error) => {
        shell.note(error.message)
        shell.fail()
      }),
    )
}
