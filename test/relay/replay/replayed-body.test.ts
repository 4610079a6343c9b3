import { describe, expect, it } from 'vitest'
import { HistoricalBooks } from '../../../src/archive/replay/historical-books.ts'
import { bookChecksum } from '../../../src/order-books/checksum.ts'
import { ShardBooks } from '../../../src/order-books/shard-books.ts'
import type { HubBlock, RelayEvents } from '../../../src/protocol/feed/log-api.ts'
import { BookFanout } from '../../../src/relay/books/book-fanout.ts'
import { canReplay } from '../../../src/relay/channel.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { bookReplayer, coinsOf, eventReplayer, isPlayable } from '../../../src/relay/replay/replay.ts'
import { booksTarget, eventsTarget, targetOf } from '../targets.ts'

const [USER, FILL] = EXAMPLE_FILL
const BLOCK: RelayEvents = {
  v: 1,
  t: 'events',
  epoch: 'e1',
  height: 9,
  time: 700,
  fills: [
    [USER, { ...FILL, side: 'B', tid: 5 }],
    [`0x${'b2'.repeat(20)}`, { ...FILL, side: 'A', crossed: false, tid: 5 }],
    [USER, { ...FILL, liquidation: { liquidatedUser: USER, markPx: '1', method: 'market' }, tid: 6 }],
  ],
  ledger: [{ users: [USER], time: 700, hash: FILL.hash, delta: { type: 'deposit', usdc: '1.0' } }],
}

const TOLD_AGAIN = CHANNELS.flatMap((channel) =>
  channel.source === 'events' && canReplay(channel as never) ? [channel] : [],
)

describe('replayed events', () => {
  it.each(TOLD_AGAIN.map((channel) => [channel.type, channel.example.request] as const))(
    '%s sends what live sends',
    (type, request) => {
      for (const meta of [false, true]) {
        const one = eventsTarget({ type, ...request })
        const live: string[] = []
        const fanout = new EventFanout<{ send(text: string): void }>(CHANNELS)
        fanout.add('key', one, meta, { send: (text) => live.push(text) })
        fanout.deliver(BLOCK)
        const played = eventReplayer(one, meta)
        const { block, ...rest } = played.read(JSON.stringify(BLOCK))
        expect(rest).toEqual({ height: 9, time: 700, bytes: 100 + live.join('').length })
        expect(played.texts(block)).toEqual(live)
        expect(played.read(JSON.stringify({ ...BLOCK, fills: [], ledger: [] })).block).toEqual([])
      }
    },
  )

  it('are those that blocks contain', () => {
    expect(TOLD_AGAIN.length).toBeGreaterThan(6)
    expect(isPlayable(targetOf({ type: 'l2BookDiff' }))).toBe(true)
    for (const type of ['bbo', 'candle', 'l4Book']) {
      const { request } = CHANNELS.find((channel) => channel.type === type)!.example
      expect(isPlayable(targetOf({ type, ...request }))).toBe(false)
    }
  })
})

const level = (px: number, n = 1) => ({ px: `${px}.0`, sz: n ? '1.0' : '0', n })
const change = (coin: string, ...bids: ReturnType<typeof level>[]) => ({
  coin,
  levels: [bids, []] as [typeof bids, []],
})
const LINES = [
  [change('BTC', level(2)), change('@1', level(7))],
  [],
  [{ ...change('ETH', level(3)), new: true as const }, change('BTC', level(1, 0))],
].map((books, at) => JSON.stringify({ v: 1, t: 'block', epoch: 'e1', height: 11 + at, time: 70 * at, px: {}, books }))

describe('replayed books', () => {
  it.each([
    { type: 'l2BookDiff', coin: 'BTC' },
    { type: 'l2BookDiff', coin: ['ETH', 'BTC'] },
    { type: 'l2BookDiff' },
    { type: 'l2BookDiff', marketTypes: ['*'] },
    { type: 'l2BookDiff2', coin: 'BTC', checksum: true },
    { type: 'l2BookDiff2', marketTypes: ['spot'] },
  ])('send what live sends: %j', (body) => {
    const one = booksTarget(body)
    const held = [change('BTC', level(1)), change('@1')].map((book) => ({ ...book, height: 10, seq: 10 }))
    const wants = coinsOf(one.body)
    const books = new HistoricalBooks(
      { epoch: 'e1', height: 10, time: 0 },
      held.filter(({ coin }) => wants?.has(coin) !== false),
    )
    const played = bookReplayer(one)
    const told = LINES.flatMap((line) => played.texts(played.read(line).block, books)!)

    const hub = new ShardBooks()
    hub.seed({
      scope: 'all',
      epoch: 'e1',
      height: 10,
      time: 0,
      part: 0,
      parts: 1,
      books: held.map(({ coin, levels }) => ({ coin, levels })),
    })
    const live: string[] = []
    const fanout = new BookFanout<{ send(text: string): void; breakBooks(): void }>(1, {
      heightOf: () => 10,
      onSent: () => undefined,
    })
    fanout.add('key', one, { send: (text) => live.push(text), breakBooks: () => live.push('broken') })
    for (const line of LINES) {
      const block = JSON.parse(line) as HubBlock
      const outcome = hub.apply(block)
      const coins = outcome.kind === 'applied' ? outcome.fragments : []
      const checked = coins.map((fragment) => ({ ...fragment, checksum: bookChecksum(hub.get(fragment.coin)!.book) }))
      fanout.push(0, { v: 1, epoch: 'e1', height: block.height, time: block.time, coins: checked }, 0)
    }
    expect(told).toEqual(live)
    expect(told.length).toBeGreaterThan(0)
  })

  it('start with the live snapshots, and end where continuity is lost', () => {
    const books = new HistoricalBooks({ epoch: 'e1', height: 10, time: 5 }, [
      { ...change('BTC', level(1)), height: 10, seq: 8 },
    ])
    const of = (type: string) => bookReplayer(booksTarget({ type, coin: 'BTC' }))
    expect(
      of('l2BookDiff')
        .snapshots(books)
        .map((text) => JSON.parse(text).data),
    ).toEqual([{ Snapshot: { coin: 'BTC', time: 5, block_height: 10, levels: [[level(1)], []] } }])
    expect(of('l2BookDiff2').snapshots(books)).toEqual([])
    const played = of('l2BookDiff')
    expect(played.texts(played.read(LINES[1]!).block, books)).toBeNull()
  })
})
