// Archives of books in memory: the same chain of changes, as gateways with different epochs have it.

import * as fc from 'fast-check'
import { checkpointLines } from '../../../src/archive/archive/checkpoint-lines.ts'
import { HistoricalBooks } from '../../../src/archive/replay/historical-books.ts'
import type { BookArchive } from '../../../src/cli/backfill/book-join.ts'
import type { BookChange, Level, Levels } from '../../../src/protocol/feed/block.ts'
import type { HubBlock } from '../../../src/protocol/feed/log-api.ts'

export const FIRST = 100
export const COINS = ['BTC', 'ETH', '@107']
export const OWN = 'a'.repeat(36)
export const OTHER = 'b'.repeat(36)

/** Changes by block. Every coin has a level from the first block on. */
export type Chain = readonly (readonly BookChange[])[]

const level = fc
  .record({ px: fc.integer({ min: 1, max: 9 }), n: fc.integer({ min: 0, max: 3 }) })
  .map(({ px, n }): Level => ({ px: `${px}.5`, sz: n === 0 ? '0' : `${n}.0`, n }))
const side = fc.uniqueArray(level, { maxLength: 3, selector: ({ px }) => px })
const levels: fc.Arbitrary<Levels> = fc.tuple(side, side)
const changes = fc.uniqueArray(fc.record({ coin: fc.constantFrom(...COINS), levels }), {
  maxLength: 3,
  selector: ({ coin }) => coin,
})
const start: Chain = [COINS.map((coin) => ({ coin, levels: [[{ px: '0.1', sz: '1.0', n: 1 }], []], new: true }))]

export const chainOf = (blocks: number): fc.Arbitrary<Chain> =>
  fc.array(changes, { minLength: blocks, maxLength: blocks }).map((chain) => [...start, ...chain])

interface ArchiveOptions {
  readonly epoch: string
  /** Heights of the checkpoints. */
  readonly checkpoints: readonly number[]
  /** Whether the archive has the changes of a height; default: all. */
  readonly has?: (height: number) => boolean
  readonly alter?: (block: HubBlock) => HubBlock
}

const all = (): boolean => true
const same = (block: HubBlock): HubBlock => block

/** Blocks of a minute each. */
export function booksArchive(
  chain: Chain,
  { epoch, checkpoints, has = all, alter = same }: ArchiveOptions,
): BookArchive {
  const blocks = chain.map((books, at): HubBlock => {
    const height = FIRST + at
    return alter({ v: 1, t: 'block', epoch, height, time: height * 60_000, px: {}, books: [...books] })
  })
  const kept = blocks.filter(({ height }) => has(height))
  const lines = (first: number) =>
    kept.filter(({ height }) => height >= first && height < first + 4).map((block) => JSON.stringify(block))
  const firsts = blocks.map(({ height }) => height).filter((height) => (height - FIRST) % 4 === 0)
  return {
    segments: firsts.map((first) => ({ first, last: first + 3, lines: () => stream(lines(first)) })),
    checkpoints: checkpoints.map((height) => ({ height, lines: () => stream(storedBooks(chain, epoch, height)) })),
  }
}

async function* stream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

/** A checkpoint as the archive stores it. */
function storedBooks(chain: Chain, epoch: string, at: number): string[] {
  const books = new HistoricalBooks({ epoch, height: FIRST - 1, time: 0 }, [])
  for (const [index, changed] of chain.slice(0, at - FIRST + 1).entries()) {
    const height = FIRST + index
    books.apply({ v: 1, t: 'block', epoch, height, time: height * 60_000, px: {}, books: [...changed] })
  }
  const { head, lines } = checkpointLines(books)
  return [JSON.stringify({ ...head, members: [] }), ...lines]
}
