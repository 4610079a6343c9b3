import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ArchivedBook, ArchivedCheckpoint, ArchivedSegment } from '../../../src/archive/archive/archive-read.ts'
import { ArchiveDamage } from '../../../src/archive/archive/archive-read.ts'
import { type BooksArchive, bookAt, bookAtTime } from '../../../src/archive/replay/archived-books.ts'
import { readBooksLine } from '../../../src/archive/replay/books-line.ts'
import { HistoricalBooks } from '../../../src/archive/replay/historical-books.ts'
import { encodeBlock, hubBlockText } from '../../../src/block-log/segment.ts'
import { ShardBooks } from '../../../src/order-books/shard-books.ts'
import type { BookChange, Level, Levels } from '../../../src/protocol/feed/block.ts'
import type { HubBlock } from '../../../src/protocol/feed/log-api.ts'
import type { CoinFragment } from '../../../src/protocol/hub/hub-link.ts'

const EPOCH = 'e1'
const SEED = 100
/** Names of which one holds what another's entry begins with. */
const COINS = ['BTC', 'ETH', '@107', 'x"y\\', '{"coin":"BTC","levels":[[]]']
const level = fc
  .record({ px: fc.integer({ min: 1, max: 12 }), n: fc.integer({ min: 0, max: 3 }) })
  .map(({ px, n }): Level => ({ px: `${px}.5`, sz: n === 0 ? '0' : `${n}.0`, n }))
const side = fc.uniqueArray(level, { maxLength: 4, selector: ({ px }) => px })
const levels: fc.Arbitrary<Levels> = fc.tuple(side, side)
const changes = fc.uniqueArray(fc.record({ coin: fc.constantFrom(...COINS), levels }), {
  maxLength: 4,
  selector: ({ coin }) => coin,
})
const chains = fc.array(changes, { minLength: 1, maxLength: 30 })

/** The line that the log stores. */
function lineOf(
  height: number,
  books: readonly BookChange[] | null,
  epoch: string | null = EPOCH,
  time = height * 70,
): string {
  const empty = { fills: [], ledger: [], funding: [] }
  return hubBlockText(encodeBlock({ height, time, ...empty, books: books as BookChange[] }, epoch), () => true)
}

/** A hub that takes every line, and what the archive holds of it: a checkpoint of all books after some blocks. */
class World implements BooksArchive {
  readonly lineAt = new Map<number, string>()
  readonly hub = new ShardBooks()
  readonly told = new Map<number, readonly CoinFragment[]>()
  readonly books_ = new Map<string, string>()
  readonly checkpoints: (ArchivedCheckpoint & { readonly of: ArchivedBook[] })[] = []
  readonly #known = new Set(COINS.slice(0, 3))

  constructor(chain: readonly (readonly BookChange[])[], every: number) {
    const seed = { scope: 'all' as const, epoch: EPOCH, height: SEED, time: SEED * 70, part: 0, parts: 1 }
    this.hub.seed({ ...seed, books: [...this.#known].map((coin) => ({ coin, levels: [[], []] })) })
    this.#checkpoint()
    for (const [at, books] of chain.entries()) {
      const marked = books.map((one) => (this.#known.has(one.coin) ? one : { ...one, new: true as const }))
      for (const { coin } of books) this.#known.add(coin)
      this.take(lineOf(SEED + 1 + at, marked))
      if ((at + 1) % every === 0) this.#checkpoint()
    }
  }

  take(line: string): void {
    const block = JSON.parse(line) as HubBlock
    this.lineAt.set(block.height, line)
    const outcome = this.hub.apply(block)
    this.told.set(block.height, outcome.kind === 'applied' ? outcome.fragments : [])
    for (const coin of this.hub.coins())
      this.books_.set(`${block.height} ${coin}`, JSON.stringify(this.hub.encode(coin)))
  }

  #checkpoint(): void {
    const height = this.hub.height!
    const of = [...this.hub.coins()].map((coin) => {
      const { seq, levels } = this.hub.encode(coin)!
      return { coin, height, seq, levels: JSON.parse(levels) as Levels }
    })
    this.checkpoints.push({ epoch: EPOCH, height, time: this.hub.time, of })
  }

  get heights(): number[] {
    return [...this.lineAt.keys()]
  }
  /** Seven blocks a segment, fewer at a gap. */
  async segmentsFrom(at: { height: number } | { timeMs: number }, limit: number): Promise<ArchivedSegment[]> {
    const segments: ArchivedSegment[] = []
    for (const height of this.heights) {
      const last = segments.at(-1)
      const time = this.timeOf(height)
      if (last && last.last === height - 1 && height % 7 !== 0)
        segments[segments.length - 1] = { ...last, last: height, lastMs: time }
      else segments.push({ chain: 'c', first: height, last: height, firstMs: time, lastMs: time, epoch: EPOCH })
    }
    const isFrom = ({ last, lastMs }: ArchivedSegment) => ('height' in at ? last >= at.height : lastMs >= at.timeMs)
    const start = 'height' in at ? undefined : segments.findLast(({ firstMs }) => firstMs <= at.timeMs)
    return segments.filter((one) => isFrom(one) && one.first >= (start?.first ?? 0)).slice(0, limit)
  }
  timeOf(height: number): number {
    return (JSON.parse(this.lineAt.get(height)!) as HubBlock).time
  }
  async *lines({ first, last }: ArchivedSegment): AsyncGenerator<string> {
    yield* this.heights.filter((height) => height >= first && height <= last).map((height) => this.lineAt.get(height)!)
  }
  async checkpointAt(height: number): Promise<ArchivedCheckpoint | null> {
    return this.checkpoints.findLast((one) => one.height <= height) ?? null
  }
  async *books(height: number, coins: ReadonlySet<string> | null): AsyncGenerator<ArchivedBook> {
    for (const book of this.checkpoints.find((one) => one.height === height)!.of)
      if (coins?.has(book.coin) !== false) yield book
  }
}

const resting = { yield: async () => undefined }
const last = <T>(list: readonly T[]) => list.at(-1)!

describe('a books line', () => {
  it('is parsed for some coins as if it were parsed whole', () => {
    fc.assert(
      fc.property(changes, fc.subarray(COINS), fc.boolean(), (books, wanted, isNew) => {
        const line = lineOf(7, isNew ? books.map((one) => ({ ...one, new: true as const })) : books)
        const block = { ...(JSON.parse(line) as HubBlock), px: {} }
        expect(readBooksLine(line, null)).toEqual(block)
        const own = block.books!.filter(({ coin }) => wanted.includes(coin))
        expect(readBooksLine(line, new Set(wanted))).toEqual({ ...block, books: own })
      }),
    )
  })

  it('reports unknown changes, and is parsed whole if its entries have another form', () => {
    expect(readBooksLine(lineOf(7, null), new Set(['BTC'])).books).toBeNull()
    const odd = '{"v":1,"t":"block","epoch":"e1","height":7,"time":1,"px":{},"books":[{"levels":[[],[]],"coin":"BTC"}]}'
    expect(readBooksLine(odd, new Set(['BTC'])).books).toEqual([{ coin: 'BTC', levels: [[], []] }])
  })
})

describe('books from a checkpoint and the lines after it', () => {
  it('equal those of a hub that applied every block, and have the same changes', () => {
    fc.assert(
      fc.property(
        chains,
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        fc.subarray(COINS, { minLength: 1 }),
        (chain, every, at, coins) => {
          const world = new World(chain, every)
          const checkpoint = world.checkpoints[at % world.checkpoints.length]!
          const wanted = new Set(coins)
          const books = new HistoricalBooks(
            checkpoint,
            checkpoint.of.filter(({ coin }) => wanted.has(coin)),
          )
          for (const height of world.heights) {
            const told = books.apply(readBooksLine(world.lineAt.get(height)!, wanted))
            if (height <= checkpoint.height) expect(told).toEqual([])
            else {
              const own = world.told.get(height)!.filter(({ coin }) => wanted.has(coin))
              // The first book of a coin follows the height of the checkpoint: nothing of it is in the archive before.
              const first = (one: CoinFragment) => (one.mark === '+' ? { ...one, prevSeq: checkpoint.height } : one)
              expect(told).toEqual(own.map(first))
              for (const coin of coins) {
                const snapshot = books.snapshot(coin)
                const hub = world.books_.get(`${height} ${coin}`)
                const { seq, levels } = snapshot ?? {}
                expect(snapshot && JSON.stringify({ seq, levels })).toEqual(hub ?? null)
                if (snapshot) expect(snapshot).toMatchObject({ coin, height, time: height * 70, epoch: EPOCH })
              }
            }
          }
        },
      ),
    )
  })

  it('are unavailable until the books of the checkpoint are at one height', () => {
    const world = new World([[{ coin: 'BTC', levels: [[{ px: '1.5', sz: '1', n: 1 }], []] }], [], []], 99)
    const book = {
      coin: 'BTC',
      height: SEED + 2,
      seq: SEED + 1,
      levels: [[{ px: '1.5', sz: '1', n: 1 }], []] as Levels,
    }
    const books = new HistoricalBooks({ epoch: EPOCH, height: SEED, time: 0 }, [book])
    expect(books.completeAt).toBe(SEED + 2)
    const seen = world.heights.map((height) => {
      const told = books.apply(readBooksLine(world.lineAt.get(height)!, new Set(['BTC'])))
      return [told, books.snapshot('BTC')?.seq]
    })
    expect(seen).toEqual([
      [[], undefined],
      [[], SEED + 1],
      [[], SEED + 1],
    ])
  })

  it.each([
    ['a block is missing', lineOf(SEED + 3, []), { kind: 'gap', from: SEED + 1, to: SEED + 2 }],
    ['the changes of a block are unknown', lineOf(SEED + 1, null, null), { kind: 'unknown', height: SEED + 1 }],
    ['they are of another epoch', lineOf(SEED + 1, [], 'e2'), { kind: 'epoch', height: SEED + 1, epoch: 'e2' }],
  ])('are unavailable if %s', (_, line, lost) => {
    const { checkpoints } = new World([[]], 99)
    const books = new HistoricalBooks(checkpoints[0]!, checkpoints[0]!.of)
    expect([books.apply(readBooksLine(line, null)), books.loss, books.snapshot('BTC')]).toEqual([null, lost, null])
    expect(books.apply(readBooksLine(lineOf(SEED + 4, []), null))).toBeNull()
  })
})

describe('the book of a coin at a height', () => {
  it('equals that of the hub at every height, whatever checkpoint is near', async () => {
    await fc.assert(
      fc.asyncProperty(chains, fc.integer({ min: 1, max: 9 }), async (chain, every) => {
        const world = new World(chain, every)
        for (const height of world.heights)
          for (const coin of COINS) {
            const answer = await bookAt(world, coin, height, resting)
            const hub = world.books_.get(`${height} ${coin}`)
            const snapshot = answer.ok ? answer.snapshot : undefined
            expect(snapshot && JSON.stringify({ seq: snapshot.seq, levels: snapshot.levels })).toEqual(hub ?? null)
          }
      }),
      { numRuns: 40 },
    )
  })

  it('is restored from an older checkpoint if a newer one has a later state of it', async () => {
    const world = new World(Array(10).fill([]), 5)
    const { of } = last(world.checkpoints.splice(1, 1))
    world.checkpoints.splice(1, 0, {
      epoch: EPOCH,
      height: SEED + 5,
      time: 1,
      of: of.map((one) => ({ ...one, height: SEED + 8 })),
    })
    expect(await bookAt(world, 'BTC', SEED + 6, resting)).toMatchObject({
      ok: true,
      snapshot: { height: SEED + 6, seq: SEED },
    })
  })

  it('reports the obstacle if it cannot be restored', async () => {
    const world = new World(Array(6).fill([]), 99)
    const refused = (height: number) => bookAt(world, 'BTC', height, resting)
    expect(await refused(SEED - 1)).toEqual({ ok: false, kind: 'before' })
    expect(await refused(SEED + 9)).toEqual({ ok: false, kind: 'ahead' })
    expect(await bookAt(world, 'NONE', SEED + 3, resting)).toEqual({ ok: true, snapshot: null })
    world.lineAt.delete(SEED + 3)
    expect(await refused(SEED + 3)).toEqual({ ok: false, kind: 'gap', from: SEED + 3, to: SEED + 3 })
    expect(await refused(SEED + 5)).toEqual({ ok: false, kind: 'gap', from: SEED + 3, to: SEED + 3 })
    world.lineAt.set(SEED + 3, lineOf(SEED + 3, null, null))
    world.lineAt.delete(SEED + 4)
    expect(await refused(SEED + 2)).toMatchObject({ ok: true })
    // The map keeps the order of insertion: the line stands last.
    world.lineAt.delete(SEED + 5)
    world.lineAt.delete(SEED + 6)
    expect(await refused(SEED + 3)).toEqual({ ok: false, kind: 'unknown', height: SEED + 3 })
  })

  it('is restored without a damaged checkpoint, and damaged blocks are reported', async () => {
    const world = new World(Array(20).fill([{ coin: 'BTC', levels: [[{ px: '1', sz: '2', n: 1 }], []] }]), 5)
    const damaged = new Set<number>()
    const books = (height: number, coins: ReadonlySet<string> | null) => {
      if (damaged.has(height)) throw new ArchiveDamage('checkpoint', 'altered')
      return world.books(height, coins)
    }
    const lines = (segment: ArchivedSegment) => {
      if (damaged.has(segment.first)) throw new ArchiveDamage('segment', 'missing')
      return world.lines(segment)
    }
    const archive: BooksArchive = {
      segmentsFrom: (...of) => world.segmentsFrom(...of),
      checkpointAt: (height) => world.checkpointAt(height),
      books,
      lines,
    }
    const sound = await bookAt(archive, 'BTC', SEED + 12, resting)
    const atTime = () => bookAtTime(archive, 'BTC', (SEED + 12) * 70, resting)
    expect(await atTime()).toEqual(sound)
    damaged.add(SEED + 10)
    expect(await bookAt(archive, 'BTC', SEED + 12, resting)).toEqual(sound)
    // Segments begin with heights that seven divides.
    const first = Math.ceil((SEED + 6) / 7) * 7
    damaged.add(first)
    const gap = { ok: false, kind: 'gap', from: first, to: first + 6 }
    expect(await bookAt(archive, 'BTC', SEED + 12, resting)).toEqual(gap)
    expect(await atTime()).toEqual(gap)
    expect(await bookAtTime(archive, 'BTC', first * 70 - 1, resting)).toMatchObject({ snapshot: { height: first - 1 } })
    for (const height of [SEED, SEED + 5]) damaged.add(height)
    expect(await bookAt(archive, 'BTC', SEED + 12, resting)).toEqual({ ok: false, kind: 'damaged' })
  })

  it('yields to other work, and stops if the request was abandoned', async () => {
    const world = new World(Array(300).fill([]), 999)
    let rests = 0
    const rest = async () => {
      if (++rests === 2) throw new Error('nobody waits')
    }
    await expect(bookAt(world, 'BTC', SEED + 300, { yield: rest })).rejects.toThrow('nobody waits')
    expect(rests).toBe(2)
  })
})

describe('the book of a coin at a time', () => {
  const at = (world: BooksArchive, timeMs: number) => bookAtTime(world, 'BTC', timeMs, resting)

  it('is that of the last block at or before it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ books: changes, ms: fc.integer({ min: 0, max: 2 }) }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        async (chain, every) => {
          const world = new World(
            chain.map(({ books }) => books),
            every,
          )
          let time = SEED * 70
          for (const [index, { books, ms }] of chain.entries()) {
            time += ms
            world.lineAt.set(SEED + 1 + index, lineOf(SEED + 1 + index, books, EPOCH, time))
          }
          for (const checkpoint of world.checkpoints.slice(1))
            Object.assign(checkpoint, { time: world.timeOf(checkpoint.height) })
          for (let timeMs = SEED * 70; timeMs <= time; timeMs++) {
            const height = world.heights.findLast((one) => world.timeOf(one) <= timeMs) ?? SEED
            expect(await at(world, timeMs)).toEqual(await bookAt(world, 'BTC', height, resting))
          }
          expect(await at(world, time + 1)).toEqual({ ok: false, kind: 'ahead' })
          expect(await at(world, SEED * 70 - 1)).toEqual({ ok: false, kind: 'before' })
        },
      ),
      { numRuns: 40 },
    )
  })

  it.each([
    ['of a block', 70 * (SEED + 3), SEED + 3],
    ['between blocks', 70 * (SEED + 4) - 1, SEED + 3],
    ['of the last block', 70 * (SEED + 10), SEED + 10],
    ['between the checkpoint and the first block', 70 * (SEED + 1) - 1, SEED],
  ])('%s is found', async (_, timeMs, height) => {
    const world = new World(Array(10).fill([]), 99)
    expect(await at(world, timeMs)).toMatchObject({ ok: true, snapshot: { height } })
  })

  it('includes every block of that time', async () => {
    const world = new World(Array(10).fill([]), 99)
    const timeMs = world.timeOf(SEED + 2)
    for (const height of [SEED + 3, SEED + 4]) world.lineAt.set(height, lineOf(height, [], EPOCH, timeMs))
    expect(await at(world, timeMs)).toMatchObject({ snapshot: { height: SEED + 4, time: timeMs } })
    expect(await at(world, timeMs - 1)).toMatchObject({ snapshot: { height: SEED + 1 } })
  })

  it('is unknown in a gap, also if a checkpoint ends the gap', async () => {
    const world = new World(Array(12).fill([]), 8)
    for (const height of [SEED + 6, SEED + 7, SEED + 8]) world.lineAt.delete(height)
    // The hubs had the books of the block at the end of the gap.
    expect(last(world.checkpoints).height).toBe(SEED + 8)
    const gap = { ok: false, kind: 'gap', from: SEED + 6, to: SEED + 8 }
    expect(await at(world, 70 * (SEED + 5))).toMatchObject({ snapshot: { height: SEED + 5 } })
    for (const timeMs of [70 * (SEED + 5) + 1, 70 * (SEED + 8) - 1]) expect(await at(world, timeMs)).toEqual(gap)
    for (const timeMs of [70 * (SEED + 8), 70 * (SEED + 9) - 1])
      expect(await at(world, timeMs)).toMatchObject({ snapshot: { height: SEED + 8 } })
    world.checkpoints.pop()
    expect(await at(world, 70 * (SEED + 8))).toEqual(gap)
    expect(await at(world, 70 * (SEED + 9))).toEqual(gap)
  })

  it('stops looking if the request was abandoned', async () => {
    const world = new World(Array(300).fill([]), 999)
    world.segmentsFrom = async () => [
      { chain: 'c', first: SEED + 1, last: SEED + 300, firstMs: 0, lastMs: 70 * (SEED + 300), epoch: EPOCH },
    ]
    world.checkpointAt = () => expect.unreachable()
    const abandoned = { yield: () => Promise.reject(new Error('nobody waits')) }
    await expect(bookAtTime(world, 'BTC', 70 * (SEED + 300), abandoned)).rejects.toThrow('nobody waits')
  })
})

it('a repaired book is unknown until the next checkpoint; others are known', () => {
  const block = encodeBlock({ height: 101, time: 1, fills: [], ledger: [], funding: [], books: [] }, EPOCH)
  const line = hubBlockText(block, () => true, ['BTC'])
  const of = (coin: string) => {
    const books = new HistoricalBooks({ epoch: EPOCH, height: SEED, time: 0 }, [
      { coin, height: SEED, seq: 1, levels: [[], []] },
    ])
    books.apply(readBooksLine(line, new Set([coin])))
    return books.loss
  }
  expect([of('BTC'), of('ETH')]).toEqual([{ kind: 'unknown', height: 101 }, null])
})
