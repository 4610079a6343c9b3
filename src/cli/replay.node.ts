// `npm run replay -- DIR`: replays recorded node data and prints the changed levels of every block. At the end it prints
// `coin height bids asks sha256` for every coin, with the hash of its full book in canonical form.

import { createHash } from 'node:crypto'
import { commandLine, program } from '../core/command-line.node.ts'
import { visible } from '../core/visible.ts'
import { openReplay } from '../feeder/replay.node.ts'
import { canonicalBook } from '../order-books/canonical.ts'
import type { Block, Level } from '../protocol/feed/block.ts'

function blockLines({ height, books }: Block): string {
  if (!books || books.length === 0) return `${height} unchanged\n`
  const side = (levels: readonly Level[]) => levels.map(({ px, sz, n }) => `${px}=${sz}/${n}`).join(' ') || '-'
  return books.map(({ coin, levels }) => `${height} ${coin} bids ${side(levels[0])} asks ${side(levels[1])}\n`).join('')
}

async function main(folder: string): Promise<void> {
  const replay = await openReplay(folder)
  let { height } = replay.seed
  for await (const block of replay.blocks()) {
    height = block.height
    process.stdout.write(blockLines(block))
  }
  for (const coin of replay.books.coins().sort()) {
    const levels = replay.books.levels(coin)
    const hash = createHash('sha256').update(canonicalBook(levels)).digest('hex')
    process.stdout.write(`${coin} ${height} ${levels[0].length} ${levels[1].length} ${hash}\n`)
  }
}

export const REPLAY = program('npm run replay --', 'replay recorded node data through the order-book core', [
  'test/fixtures/wire/node-capture',
]).argument('<dir>', 'folder with l4Snapshot*.json[.gz] and raw book diffs')

if (import.meta.main)
  await main(commandLine(REPLAY).processedArgs[0]).catch((error: Error) => {
    process.stderr.write(`${visible(error.message)}\n`)
    process.exitCode = 1
  })
