// Books of a gap from another archive: what is accepted, what is refused, and that readers get the books of that archive.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkpointLines } from '../../../src/archive/archive/checkpoint-lines.ts'
import { HistoricalBooks } from '../../../src/archive/replay/historical-books.ts'
import { type BookArchive, BookContinuation, booksAfter, joinBooks } from '../../../src/cli/backfill/book-join.ts'
import type { BookChange, Level } from '../../../src/protocol/feed/block.ts'
import type { HubBlock } from '../../../src/protocol/feed/log-api.ts'
import { booksArchive, type Chain, COINS, chainOf, FIRST, OTHER, OWN } from './book-chain.ts'

const GAP = { from: FIRST + 10, to: FIRST + 20 }
/** Our archive lacks the gap and starts over behind it. */
const ours = (chain: Chain) =>
  booksArchive(chain, {
    epoch: OWN,
    checkpoints: [FIRST + 3, GAP.to + 4],
    has: (height) => height < GAP.from || height > GAP.to + 1,
  })
const theirs = (chain: Chain, alter: (block: HubBlock) => HubBlock = (block) => block) =>
  booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 1], alter })

/** Adds an order to a coin's book in the block of a height. */
const lie =
  (at: number, coin: string, level: Level) =>
  (block: HubBlock): HubBlock =>
    block.height !== at
      ? block
      : {
          ...block,
          books: [...block.books!.filter((one) => one.coin !== coin), { coin, levels: [[level], []] } as BookChange],
        }
/** No block of a chain has this price. */
const LEVEL = { px: '99.5', sz: '7.0', n: 1 }

const allBooks = (books: HistoricalBooks) =>
  Object.fromEntries(COINS.map((coin) => [coin, books.bookOf(coin)?.levels() ?? [[], []]]))

async function repaired(own: BookArchive, other: BookArchive, to = GAP.to) {
  const continuation = new BookContinuation((await booksAfter(own, GAP.from - 1))!, other, to)
  const blocks: HubBlock[] = []
  const checkpoints = []
  for (let height = GAP.from; height <= GAP.to; height++) {
    const books = await continuation.changesAt(height)
    if (books === null) break
    blocks.push({
      v: 1,
      t: 'block',
      epoch: continuation.epoch,
      height,
      time: height * 60_000,
      px: {},
      books: [...books],
    })
    const due = continuation.advance(height)
    if (due) checkpoints.push(due)
  }
  return { blocks, checkpoints }
}

describe('books of a gap', () => {
  it('are those of the other archive at every height, in our epoch, from any checkpoint', async () => {
    await fc.assert(
      fc.asyncProperty(chainOf(30), async (chain) => {
        const own = ours(chain)
        const other = theirs(chain)
        expect(await joinBooks(own, other, GAP)).toEqual({ kind: 'joined', to: GAP.to, isVerified: true })
        const { blocks, checkpoints } = await repaired(own, other)
        expect(blocks).toHaveLength(11)
        const { books } = (await booksAfter(own, GAP.from - 1))!
        // Five minutes are five blocks here.
        expect(checkpoints.map(({ head }) => head.height)).toEqual(
          blocks.map(({ height }) => height).filter((height) => height % 5 === 0),
        )
        for (const block of blocks) {
          expect(books.apply(block)).not.toBeNull()
          const truth = (await booksAfter(other, block.height))!.books
          expect(allBooks(books)).toEqual(allBooks(truth))
          const due = checkpoints.find(({ head }) => head.height === block.height)
          const stored = due?.lines.map((line) => JSON.parse(line))
          const restored = due ? new HistoricalBooks(due.head, stored!) : books
          expect(checkpointLines(restored).lines).toEqual(checkpointLines(books).lines)
          expect(restored.epoch).toBe(OWN)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('are refused if one level differs, before the gap or at the end', async () => {
    const coin = fc.constantFrom(...COINS)
    const height = fc.integer({ min: FIRST + 2, max: GAP.to })
    await fc.assert(
      fc.asyncProperty(chainOf(30), coin, height, async (chain, name, at) => {
        const join = await joinBooks(ours(chain), theirs(chain, lie(at, name, LEVEL)), GAP)
        const where = at < GAP.from ? `after block ${GAP.from - 1} .*before the gap` : `after block ${GAP.to + 4} `
        expect(join).toMatchObject({ kind: 'contradiction', reason: expect.stringMatching(`book of ${name} ${where}`) })
      }),
      { numRuns: 40 },
    )
  })

  const [chain] = fc.sample(chainOf(30), { numRuns: 1, seed: 1 }) as [Chain]

  it.each([
    ['a block is missing', { has: (height: number) => height !== FIRST + 15 }],
    [
      'changes are unknown',
      { alter: (block: HubBlock) => (block.height === FIRST + 15 ? { ...block, books: null } : block) },
    ],
    [
      'a book was repaired',
      { alter: (block: HubBlock) => (block.height === FIRST + 15 ? { ...block, repaired: ['BTC'] } : block) },
    ],
    [
      'books start over',
      { alter: (block: HubBlock) => (block.height >= FIRST + 15 ? { ...block, epoch: 'x' } : block) },
    ],
  ])('are known up to the block where %s in the other archive', async (_, change) => {
    const other = booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 1], ...change })
    expect(await joinBooks(ours(chain), other, GAP)).toEqual({ kind: 'joined', to: FIRST + 14, isVerified: false })
    expect((await repaired(ours(chain), other, FIRST + 14)).blocks).toHaveLength(5)
  })

  it('are not verified after the gap if the other archive ends before our checkpoint', async () => {
    const other = booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 1], has: (height) => height <= GAP.to + 2 })
    expect(await joinBooks(ours(chain), other, GAP)).toEqual({ kind: 'joined', to: GAP.to, isVerified: false })
  })

  it('stay unknown if either archive does not have the books before the gap', async () => {
    const late = booksArchive(chain, { epoch: OTHER, checkpoints: [GAP.from] })
    expect(await joinBooks(ours(chain), late, GAP)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/^it does not have/),
    })
    expect(await joinBooks(late, theirs(chain), GAP)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/^the archived books/),
    })
    const ends = booksArchive(chain, { epoch: OTHER, checkpoints: [FIRST + 1], has: (height) => height < GAP.from })
    expect(await joinBooks(ours(chain), ends, GAP)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/changes of the books/),
    })
  })

  it('stay unknown if a checkpoint lacks a book', async () => {
    const other = theirs(chain)
    const [all] = other.checkpoints
    const lines = async function* () {
      for await (const line of all!.lines()) if (!line.startsWith('{"coin":"BTC"')) yield line
    }
    const lacking = { ...other, checkpoints: [{ height: all!.height, lines }] }
    const join = await joinBooks(ours(chain), lacking, GAP)
    // Its changes show it, or nothing does.
    expect(join.kind).toBe('unknown')
  })
})
