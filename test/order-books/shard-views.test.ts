import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bookChecksum } from '../../src/order-books/checksum.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import { ShardBooks } from '../../src/order-books/shard-books.ts'
import { ShardViews } from '../../src/order-books/shard-views.ts'
import { BBO, levelsView, MID } from '../../src/order-books/view.ts'
import { CHECKSUM, coinInterest, typeInterest, ViewInterests } from '../../src/order-books/view-interests.ts'
import type { BookChange, Levels } from '../../src/protocol/feed/block.ts'

const level = (px: number, n = 1) => ({ px: `${px}.0`, sz: n ? `${n}.0` : '0', n })
const ROUNDED = levelsView(0, 2, { nSigFigs: 2, mantissa: 1 })
const SLOW = levelsView(500, 2, null)
const VIEWS = [BBO, MID, SLOW, ROUNDED]

/** A shard of two coins, and what its views send. */
class Shard {
  readonly books = new ShardBooks()
  readonly views = new ShardViews(this.books)
  height = 10

  constructor(bids: Levels[0] = [level(99), level(98)], asks: Levels[1] = [level(101)]) {
    const books: [string, Levels][] = [
      ['BTC', [bids, asks]],
      ['@1', [[], []]],
    ]
    const seed = { scope: 'all', epoch: 'e', height: 10, time: 0, part: 0, parts: 1 } as const
    this.books.seed({ ...seed, books: books.map(([coin, levels]) => ({ coin, levels })) })
  }

  /** The pieces that a block with this time sends. */
  block(timeMs: number, changes: BookChange[] = [], px: Record<string, string> = {}) {
    const { fragments } = this.applied({ height: ++this.height, time: timeMs, books: changes, px })
    this.views.touch([...fragments.map(({ coin }) => coin), ...Object.keys(px)])
    return this.views.due(timeMs)
  }

  applied(block: { height: number; time?: number; books: BookChange[]; px?: Record<string, string> }) {
    const outcome = this.books.apply({ v: 1, t: 'block', epoch: 'e', time: 0, px: {}, ...block })
    return outcome.kind === 'applied' ? outcome : { fragments: [] }
  }

  whole(...wants: string[]) {
    return this.views.renderAll(new ViewInterests(wants))
  }
}
const btc = (bids: Levels[0], asks: Levels[1] = []): BookChange[] => [{ coin: 'BTC', levels: [bids, asks] }]
const pieces = (shown: readonly { piece: string }[]) => shown.map(({ piece }) => piece)

// WS-149
describe('the checksums of a shard', () => {
  const bookOf = (shard: Shard, coin: string) => bookChecksum(shard.books.get(coin)!.book)

  it('are of the book after the block, and only for wanted coins', () => {
    const shard = new Shard()
    shard.views.add([coinInterest(CHECKSUM, 'BTC')])
    const change = (all: boolean) => {
      const height = ++shard.height
      const books = ['BTC', '@1'].map((coin) => ({ coin, levels: [[level(97, height)], []] as Levels }))
      const { fragments } = shard.applied({ books, height })
      return shard.views.withChecksums(fragments, all).map(({ checksum }) => checksum)
    }
    expect(change(false)).toEqual([bookOf(shard, 'BTC'), undefined])
    expect(change(true)).toEqual([bookOf(shard, 'BTC'), bookOf(shard, '@1')])
    expect(shard.block(0, btc([level(96)]))).toEqual([])
    shard.views.retain([])
    expect(change(false)).toEqual([undefined, undefined])
  })

  it('are of the repaired book, and of an empty one when continuity is lost', () => {
    const shard = new Shard()
    const repair = (levels: Levels) => {
      const books = [{ coin: 'BTC', levels }]
      shard.books.seed({ scope: 'coins', epoch: 'e', height: shard.height, time: 0, part: 0, parts: 1, books })
      const [fragment] = shard.applied({ books: [], height: ++shard.height }).fragments
      return shard.views.withChecksums([fragment!], true)[0]!
    }
    const copy = LevelBook.of(shard.books.get('BTC')!.book.levels())
    const told = repair([[level(99), level(90)], [{ ...level(101), sz: '1.00' }]])
    copy.apply(JSON.parse(told.levels))
    expect([told.mark, told.checksum]).toEqual(['=', bookChecksum(copy)])
    shard.books.invalidate([{ coin: 'BTC', height: shard.height }], shard.height)
    expect(repair([[level(50)], []])).toMatchObject({ mark: '!', checksum: bookOf(shard, 'BTC') })
  })
})

describe('the views of a shard', () => {
  // WS-130
  it('are of the whole book: best levels, levels with the spread of the raw book, mid prices or last trades', () => {
    const shard = new Shard([level(99), level(98), level(91)], [level(100)])
    const bid = '{"px":"99.0","sz":"1.0","n":1}'
    const ask = '{"px":"100.0","sz":"1.0","n":1}'
    expect(pieces(shard.whole(...VIEWS.map((view) => coinInterest(view, 'BTC'))))).toEqual([
      `[${bid},${ask}]`,
      '99.5',
      `"levels":[[${bid},{"px":"98.0","sz":"1.0","n":1}],[${ask}]]`,
      `"levels":[[${bid},{"px":"98.0","sz":"1.0","n":1}],[${ask}]],"spread":"1.0"`,
    ])
    const ofSpot = VIEWS.map((view) => typeInterest(view, 'spot'))
    expect(pieces(shard.whole(...ofSpot))).toEqual(['[null,null]', '', '"levels":[[],[]]', '"levels":[[],[]]'])
    expect(pieces(shard.whole(coinInterest(levelsView(0, 5, { nSigFigs: 2, mantissa: 1 }), 'BTC')))[0]).toContain(
      '"91.0"',
    )
    shard.block(1, [], { '@1': '7' })
    expect(pieces(shard.whole(coinInterest(MID, '@1')))).toEqual(['7.0'])
  })

  // WS-131
  it('send the best levels only with blocks that change them', () => {
    const shard = new Shard()
    expect(shard.block(1, btc([level(97)]))).toEqual([])
    shard.views.add([coinInterest(BBO, 'BTC')])
    shard.block(2, btc([level(99, 2)]))
    expect(shard.block(3, btc([level(97, 3)]))).toEqual([])
    expect(pieces(shard.block(4, btc([level(99, 0)])))).toEqual([
      '[{"px":"98.0","sz":"1.0","n":1},{"px":"101.0","sz":"1.0","n":1}]',
    ])
    expect(shard.block(5, [{ coin: '@1', levels: [[level(1)], []] }])).toEqual([])
  })

  // WS-132
  it('send levels no sooner than their interval, in their latest state', () => {
    const shard = new Shard()
    shard.views.add([coinInterest(SLOW, 'BTC')])
    expect(shard.block(1000, btc([level(99, 2)]))).toHaveLength(1)
    expect(shard.block(1100, btc([level(99, 3)]))).toEqual([])
    expect(shard.block(1499, btc([level(99, 4)]))).toEqual([])
    expect(pieces(shard.block(1500))[0]).toContain('"sz":"4.0"')
    expect(shard.block(2500)).toEqual([])
    // A value that returned to the one last sent is not sent again.
    expect(shard.block(2600, btc([level(99, 5)]))).toHaveLength(1)
    shard.block(2700, btc([level(99, 6)]))
    shard.block(2800, btc([level(99, 5)]))
    expect(shard.block(3200)).toEqual([])
    // The feed restarted.
    expect(shard.block(10, btc([level(99, 9)]))).toHaveLength(1)
  })

  it('are rendered only if wanted', () => {
    const shard = new Shard()
    shard.views.add(VIEWS.flatMap((view) => [coinInterest(view, 'BTC'), typeInterest(view, 'spot')]))
    expect(shard.block(1, btc([level(99, 2)]))).toHaveLength(VIEWS.length)
    shard.views.retain([new ViewInterests([coinInterest(BBO, 'BTC')])])
    const everything: BookChange[] = [...btc([level(99, 3)]), { coin: '@1', levels: [[level(1)], []] }]
    expect(shard.block(2, everything).map(({ view, coin }) => [view, coin])).toEqual([[BBO, 'BTC']])
    shard.views.retain([])
    expect(shard.block(3, btc([level(99, 4)]))).toEqual([])
  })

  it('give every receiver the views of the whole book', () => {
    const change = fc.record({ side: fc.constantFrom(0, 1), px: fc.integer({ min: 1, max: 30 }), n: fc.nat(2) })
    const changes = fc.array(change, { maxLength: 4 })
    const blocks = fc.array(fc.record({ ms: fc.nat(300), changes, isJoined: fc.boolean() }))
    fc.assert(
      fc.property(blocks, (steps) => {
        const shard = new Shard([level(9)], [level(20)])
        const wants = VIEWS.map((view) => coinInterest(view, 'BTC'))
        shard.views.add(wants)
        const wholeOf = (view: string) => pieces(shard.whole(coinInterest(view, 'BTC')))[0]
        const clients: Map<string, string | undefined>[] = []
        const join = () => clients.push(new Map(wants.map((want, at) => [VIEWS[at]!, pieces(shard.whole(want))[0]])))
        join()
        let timeMs = 0
        for (const { ms, changes, isJoined } of [...steps, { ms: 500, changes: [], isJoined: false }]) {
          timeMs += ms
          const on = (side: number) => changes.filter((one) => one.side === side).map(({ px, n }) => level(px, n))
          const shown = shard.block(timeMs, btc(on(0), on(1)))
          for (const held of clients) for (const { view, piece } of shown) held.set(view, piece)
          if (isJoined) join()
          for (const held of clients) for (const view of [BBO, MID, ROUNDED]) expect(held.get(view)).toBe(wholeOf(view))
        }
        for (const held of clients) expect(held.get(SLOW)).toBe(wholeOf(SLOW))
      }),
    )
  })
})
