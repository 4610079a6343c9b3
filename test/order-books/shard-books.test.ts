import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../src/order-books/coin-book.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import { ShardBooks } from '../../src/order-books/shard-books.ts'
import type { BookChange, Levels } from '../../src/protocol/feed/block.ts'
import type { HubBlock, HubSeed } from '../../src/protocol/feed/log-api.ts'
import type { CoinFragment } from '../../src/protocol/hub/hub-link.ts'

const EPOCH = 'e1'
const level = (px: number, n = 1) => ({ px: `${px}.0`, sz: n ? `${n}.0` : '0', n })
const block = (height: number, books: BookChange[] | null, epoch: string | null = EPOCH): HubBlock => {
  return { v: 1, t: 'block', epoch, height, time: height * 70, books, px: {} }
}
const seed = (height: number, books: HubSeed['books'], scope: 'all' | 'coins' = 'all', epoch = EPOCH) => {
  return { scope, epoch, height, time: height * 70, books, part: 0, parts: 1 }
}
const bids = (...levels: ReturnType<typeof level>[]): Levels => [levels, []]
const at = (coin: string, ...prices: number[]) => ({ coin, levels: bids(...prices.map((px) => level(px))) })
const seeded = (height: number, ...books: HubSeed['books']) => {
  const shard = new ShardBooks()
  shard.seed(seed(height, books))
  return shard
}
const parsed = (text: string): Levels => JSON.parse(text) as Levels

/** A client that follows fragments by the rules of the specification and reports when it must start over. */
class Client {
  readonly books = new Map<string, { book: LevelBook; seq: number }>()
  #epoch: string | null = null
  readonly #isBlind: boolean
  /** A blind client is one of `l2BookDiff`: it sees neither epoch nor `prev_seq`, and starts over only at a `!`. */
  constructor(isBlind: boolean) {
    this.#isBlind = isBlind
  }
  bootstrap(shard: ShardBooks, coin: string): void {
    const snapshot = shard.encode(coin)
    if (!snapshot) return
    const book = new LevelBook()
    book.apply(parsed(snapshot.levels))
    this.books.set(coin, { book, seq: snapshot.seq })
  }
  take(shard: ShardBooks, height: number, fragments: readonly CoinFragment[]): void {
    if (shard.epoch !== this.#epoch && !this.#isBlind) for (const coin of this.books.keys()) this.bootstrap(shard, coin)
    this.#epoch = shard.epoch
    for (const { mark, coin, prevSeq, levels } of fragments) {
      const held = this.books.get(coin)
      const isInOrder = held && (this.#isBlind || held.seq === prevSeq || held.seq === height)
      if (mark !== '=' || !isInOrder) this.bootstrap(shard, coin)
      else {
        held.book.apply(parsed(levels))
        held.seq = height
      }
    }
  }
}

const expectInStep = (client: Client, shard: ShardBooks) => {
  for (const coin of shard.coins()) {
    const { seq, levels } = shard.encode(coin)!
    expect({ coin, seq: client.books.get(coin)?.seq }).toEqual({ coin, seq })
    expect(client.books.get(coin)?.book.levels()).toEqual(parsed(levels))
  }
}

describe('the books of a shard', () => {
  it("have the height of a coin's last change as its seq, or the seed height if it never changed", () => {
    const shard = seeded(10, at('BTC', 5), at('ETH', 1))
    shard.apply(block(11, []))
    const outcome = shard.apply(block(12, [at('BTC', 6)]))
    expect(outcome).toEqual({
      kind: 'applied',
      fragments: [{ mark: '=', coin: 'BTC', prevSeq: 10, levels: JSON.stringify(bids(level(6))) }],
    })
    expect(shard.encode('BTC')).toEqual({ seq: 12, levels: JSON.stringify(bids(level(6), level(5))) })
    expect(shard.encode('ETH')?.seq).toBe(10)
  })

  it('reject blocks that do not follow, and ignore known ones', () => {
    const shard = seeded(10)
    expect(shard.apply(block(10, [])).kind).toBe('duplicate')
    expect(shard.apply(block(13, []))).toEqual({ kind: 'missing', from: 11 })
    expect(shard.height).toBe(10)
  })

  it('publish pending changes over several blocks, and those of a changed coin with its change', () => {
    const deep = (n: number): Levels => bids(...Array.from({ length: 3000 }, (_, i) => level(9000 - i, n)))
    const coins = ['A', 'B', 'C', 'D']
    const shard = new ShardBooks()
    const client = new Client(true)
    const all = (n: number) => coins.map((coin) => ({ coin, levels: deep(n) }))
    shard.seed(seed(1, all(1)))
    for (const coin of coins) client.bootstrap(shard, coin)
    shard.apply(block(2, null))
    shard.seed(seed(2, all(2), 'all', 'e2'))
    const paid: string[][] = []
    for (let height = 3; height < 6; height++) {
      const outcome = shard.apply(block(height, height === 3 ? [at('D', 5)] : [], 'e2'))
      if (outcome.kind !== 'applied') throw new Error(outcome.kind)
      paid.push(outcome.fragments.map(({ coin }) => coin))
      client.take(shard, height, outcome.fragments)
    }
    expect(paid).toEqual([['D', 'A', 'B'], ['C'], []])
    expectInStep(client, shard)
  })

  it('tell clients to start over when a lost book comes back', () => {
    const shard = new ShardBooks()
    shard.resetTo(EPOCH, 5, ['BTC'])
    expect(shard.apply(block(6, [at('BTC', 5)]))).toMatchObject({ fragments: [] })
    expect([shard.suspects, shard.encode('BTC')]).toEqual([['BTC'], null])
    shard.seed(seed(6, [at('BTC', 5)], 'coins'))
    expect(shard.apply(block(7, []))).toMatchObject({ fragments: [{ mark: '!', coin: 'BTC', prevSeq: -1 }] })
    expect([shard.suspects, shard.encode('BTC')?.seq]).toEqual([[], 7])
  })

  it('know their time after a repair of a shard that started without books', () => {
    const shard = new ShardBooks()
    shard.resetTo(EPOCH, 5, ['BTC'])
    shard.seed(seed(5, [at('BTC', 1)], 'coins'))
    expect(shard.time).toBe(5 * 70)
  })

  it("resume after a crash where all checkpoints are valid, however old a quiet coin's is", () => {
    const shard = seeded(10, at('BTC', 5), at('QUIET', 1))
    const quiet = shard.checkpoint('QUIET')!
    for (let height = 11; height <= 500; height++) shard.apply(block(height, [at('BTC', height)]))
    const again = new ShardBooks()
    expect(again.restore(EPOCH, 10, [quiet, { ...shard.checkpoint('BTC')!, clean: 490 }])).toBe(490)
    expect(again.apply(block(491, [at('QUIET', 2)]))).toMatchObject({
      fragments: [{ mark: '=', coin: 'QUIET', prevSeq: 10 }],
    })
    expect(again.completeAt).toBe(500)
  })

  it('skip changes that a newer checkpoint already has', () => {
    const shard = seeded(1, at('BTC', 5), at('ETH', 1))
    shard.apply(block(2, [at('ETH', 2)]))
    const behind = shard.checkpoint('ETH')!
    shard.apply(block(3, [{ coin: 'BTC', levels: bids(level(6)) }]))
    shard.apply(block(4, [{ coin: 'BTC', levels: bids(level(6, 0)) }]))
    const ahead = shard.checkpoint('BTC')!
    const again = new ShardBooks()
    expect(again.restore(EPOCH, 1, [ahead, behind])).toBe(2)
    // The repair of block 3 is known here, so what is stored in the meantime is as correct as what was restored.
    expect(again.invalidate([{ coin: 'BTC', height: 3 }], 2)).toEqual([])
    expect(again.apply(block(3, [at('BTC', 6)]))).toMatchObject({ fragments: [] })
    expect([again.encode('BTC'), again.checkpoint('BTC')]).toEqual([
      shard.encode('BTC'),
      { ...ahead, time: again.time },
    ])
    again.apply(block(4, [at('BTC', 8)]))
    expect(again.apply(block(5, [at('BTC', 7)]))).toMatchObject({ fragments: [{ mark: '=', prevSeq: 4 }] })
  })

  it('accept no repair of a different height', () => {
    const shard = seeded(1, at('BTC', 5))
    shard.seed(seed(3, [at('BTC', 7)], 'coins'))
    expect(shard.apply(block(2, [at('BTC', 6)]))).toMatchObject({
      fragments: [{ mark: '=', levels: JSON.stringify(bids(level(6))) }],
    })
  })

  it('drop only a book older than a missed repair', () => {
    const shard = seeded(1, at('BTC', 5))
    shard.apply(block(2, []))
    expect(shard.invalidate([{ coin: 'BTC', height: 1 }], 2)).toEqual([])
    expect(shard.invalidate([{ coin: 'NOPE', height: 9 }], 2)).toEqual([])
    shard.seed(seed(2, [at('BTC', 6)], 'coins'))
    expect(shard.invalidate([{ coin: 'BTC', height: 2 }], 2)).toEqual([])
    shard.apply(block(3, []))
    expect(shard.invalidate([{ coin: 'BTC', height: 4 }], 3)).toEqual(['BTC'])
    expect([shard.encode('BTC'), shard.suspects, shard.isSettled('BTC')]).toEqual([null, ['BTC'], false])
  })

  it('keep a book that was just repaired until the next block', () => {
    const shard = new ShardBooks()
    shard.resetTo(EPOCH, 5, ['BTC'])
    shard.seed(seed(5, [at('BTC', 5)], 'coins'))
    expect(shard.invalidate([{ coin: 'BTC', height: 5 }], 5)).toEqual([])
    expect([shard.suspects, shard.has('BTC')]).toEqual([[], true])
  })

  it('drop a repaired book if a later repair was missed', () => {
    const shard = seeded(1, at('BTC', 5))
    shard.seed(seed(1, [at('BTC', 6)], 'coins'))
    expect(shard.invalidate([{ coin: 'BTC', height: 3 }], 1)).toEqual(['BTC'])
  })

  it('send a new coin of a later seed as a whole book', () => {
    const shard = seeded(10, at('BTC', 5))
    const brought = ['ETH', 'SOL'].map((coin) => ({ coin, levels: bids(level(2)) }))
    shard.seed(seed(20, [at('BTC', 5), ...brought], 'all', 'e2'))
    expect(shard.isSettled('ETH')).toBe(false)
    expect(shard.apply(block(21, [at('ETH', 1)], 'e2'))).toEqual({
      kind: 'applied',
      fragments: [
        { mark: '+', coin: 'ETH', prevSeq: 20, levels: JSON.stringify(bids(level(2), level(1))) },
        { mark: '+', coin: 'SOL', prevSeq: 20, levels: JSON.stringify(bids(level(2))) },
      ],
    })
    expect(shard.encode('SOL')?.seq).toBe(21)
    expect(shard.isSettled('ETH')).toBe(true)
    expect(shard.apply(block(22, [at('ETH', 3)], 'e2'))).toMatchObject({
      fragments: [{ mark: '=', coin: 'ETH', prevSeq: 21 }],
    })
  })

  it('accept a coin without a book only if it is marked new', () => {
    const shard = seeded(1)
    expect(shard.apply(block(2, [{ coin: 'NEW', levels: bids(level(1)), new: true }]))).toMatchObject({
      fragments: [{ mark: '+', coin: 'NEW', prevSeq: 1 }],
    })
    expect(shard.apply(block(3, [at('ODD', 1)]))).toMatchObject({ fragments: [] })
    expect(shard.suspects).toEqual(['ODD'])
  })
})

// A complete history of a shard: blocks, repairs, new epochs, unknown ranges, crashes with some checkpoints.
const change = fc.record({
  coin: fc.constantFrom('A', 'B', 'C'),
  px: fc.integer({ min: 1, max: 6 }),
  n: fc.integer({ min: 0, max: 2 }),
})
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('block' as const), changes: fc.array(change, { maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('repair' as const), changes: fc.array(change, { maxLength: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unknown' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('torn' as const), scope: fc.constantFrom('all', 'coins') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('checkpoint' as const), coin: fc.constantFrom('A', 'B', 'C') }) },
)

describe('a client of a shard', () => {
  it('has the shard’s books after every block, whatever happened', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const truth = new Map(['A', 'B', 'C'].map((coin) => [coin, new LevelBook()]))
        const seedOf = (height: number, epoch: string, scope: 'all' | 'coins' = 'all') =>
          seed(
            height,
            [...truth].map(([coin, book]) => ({ coin, levels: book.levels() })),
            scope,
            epoch,
          )
        let epoch = 'e0'
        let height = 0
        const blocks: HubBlock[] = []
        const stored = new Map<string, Checkpoint>()
        /** Height of the first change after a coin was stored. */
        const dirty = new Map<string, number>()
        let shard = new ShardBooks()
        let seedHeight = 0
        shard.seed(seedOf(0, epoch))
        const clients = [new Client(false), new Client(true)] as const
        const bootstrap = () => {
          for (const client of clients)
            for (const coin of truth.keys()) if (!client.books.has(coin)) client.bootstrap(shard, coin)
        }
        bootstrap()
        const advance = (books: BookChange[] | null) => {
          const next = block(++height, books, books && epoch)
          blocks.push(next)
          const outcome = shard.apply(next)
          const changed = outcome.kind === 'applied' ? outcome.fragments : []
          for (const { coin } of changed) if (!dirty.has(coin)) dirty.set(coin, height)
          if (outcome.kind === 'applied') for (const client of clients) client.take(shard, height, outcome.fragments)
        }
        const apply = (changes: readonly { coin: string; px: number; n: number }[]) => {
          const books = new Map<string, BookChange>()
          for (const { coin, px, n } of changes) {
            const entry = books.get(coin) ?? { coin, levels: [[], []] as Levels }
            entry.levels[0] = [...entry.levels[0].filter((one) => one.px !== level(px).px), level(px, n)]
            books.set(coin, entry)
            truth.get(coin)!.apply(bids(level(px, n)))
          }
          return [...books.values()]
        }
        for (const one of steps) {
          if (one.do === 'block') advance(apply(one.changes))
          if (one.do === 'repair') {
            apply(one.changes)
            shard.seed(seedOf(height, epoch, 'coins'))
            // The log has no blocks that convert an older checkpoint to the repaired order book.
            stored.clear()
            advance([])
          }
          if (one.do === 'torn') {
            // A feeder disconnects during its snapshot: the received part is discarded.
            const books = ['A', 'D'].map((coin) => ({ coin, levels: bids(level(99)) }))
            shard.seed({ ...seed(height, books, one.scope, epoch), parts: 2 })
          }
          if (one.do === 'unknown') {
            advance(null)
            epoch = `e${height}`
            stored.clear()
            seedHeight = height
            shard.seed(seedOf(height, epoch))
            advance([])
          }
          if (one.do === 'checkpoint') {
            const checkpoint = shard.checkpoint(one.coin)
            if (checkpoint) {
              const clean = Math.min(
                height,
                ...[...dirty].filter(([coin]) => coin !== one.coin).map(([, at]) => at - 1),
              )
              stored.set(one.coin, structuredClone({ ...checkpoint, clean }))
              dirty.delete(one.coin)
            }
          }
          if (one.do === 'crash') {
            shard = new ShardBooks()
            const from = shard.restore(epoch, seedHeight, [...stored.values()])
            if (from === null) shard.resetTo(epoch, height, ['A', 'B', 'C'])
            else {
              shard.expectCoins(['A', 'B', 'C'])
              for (const next of blocks.filter((b) => b.height > from)) shard.apply(next)
            }
            if (shard.suspects.length > 0) {
              shard.seed(seedOf(height, epoch, 'coins'))
              stored.clear()
            }
            advance([])
            bootstrap()
          }
          if (one.do !== 'checkpoint') expectInStep(clients[0], shard)
          for (const client of clients)
            for (const [coin, book] of truth) expect(client.books.get(coin)?.book.levels()).toEqual(book.levels())
        }
      }),
      { numRuns: 500 },
    )
  })
})
