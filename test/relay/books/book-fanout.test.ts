import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shardOf } from '../../../src/core/coin.ts'
import { CHECKSUM, coinInterest } from '../../../src/order-books/view-interests.ts'
import type { CoinMark, HubFrameToRelay } from '../../../src/protocol/hub/hub-link.ts'
import { BookFanout, type BookFeed } from '../../../src/relay/books/book-fanout.ts'
import { Joiner } from '../../../src/relay/books/joiner.ts'
import type { BooksTarget } from '../../../src/relay/channel.ts'
import { l2BookDiff } from '../../../src/relay/channels/level-diffs.ts'
import { booksTarget } from '../targets.ts'

const SHARDS = 4
const NOTHING = { coins: new Set(), types: new Set(), views: new Set() }
const UNLINKED = { heightOf: () => -1, onSent: () => undefined }
const socket = () => {
  const sent: string[] = []
  const why: string[] = []
  return {
    sent,
    why,
    breakBooks: (reason: string) => void why.push(reason),
    send: (text: string) => void sent.push(text),
  }
}
const levelsAt = (height: number) => [[{ px: '1', sz: String(height), n: 1 }], []]
const frame = (height: number, changes: readonly [CoinMark, string, number][]): HubFrameToRelay => {
  const levels = JSON.stringify(levelsAt(height))
  const coins = changes.map(([mark, coin, prevSeq]) => ({ mark, coin, prevSeq, levels }))
  return { v: 1, epoch: 'e1', height, time: height * 10, coins }
}
const fanoutOf = (feed: BookFeed = UNLINKED) => new BookFanout<ReturnType<typeof socket>>(SHARDS, feed)
/** A new socket with a body. */
function joined(fanout: ReturnType<typeof fanoutOf>, key: string, body: BooksTarget, joiner?: Joiner) {
  const one = socket()
  fanout.add(key, body, one, joiner)
  return one
}
const textOf = (coin: string, height: number) => l2BookDiff.snapshot!({ coin, height, time: 0, levels: '[[],[]]' })
const diff = (coins: readonly string[] | null, type = 'l2BookDiff') =>
  booksTarget({ type, ...(coins ? { coin: coins } : {}) })
const SPOT = booksTarget({ type: 'l2BookDiff', marketTypes: ['spot'] })

/** Pushes a block to all hubs, each with its own coins. `=BTC 6`: it changed, and did so in block 6 before. */
function block(fanout: ReturnType<typeof fanoutOf>, height: number, ...changes: string[]) {
  const coins = changes.map((one): [CoinMark, string, number] => {
    const [coin = '', prev] = one.slice(1).split(' ')
    return [one[0] as CoinMark, coin, Number(prev)]
  })
  for (let hub = 0; hub < SHARDS; hub++) {
    const own = coins.filter(([, coin]) => shardOf(coin, SHARDS) === hub)
    fanout.push(hub, frame(height, own), 0)
  }
}

// WS-29
test('l2BookDiff: one Updates frame per block with only the changed coins', () => {
  const fanout = fanoutOf()
  const one = joined(fanout, 'list', diff(['BTC', 'ETH', 'SOL']))
  block(fanout, 7, '=BTC 6', '=DOGE 6', '=SOL 3')
  block(fanout, 8, '=DOGE 7')
  expect(one.sent).toHaveLength(1)
  const { book_diffs, ...rest } = JSON.parse(one.sent[0]!).data.Updates
  expect(rest).toEqual({ time: 70, block_height: 7 })
  const byCoin = book_diffs.sort((a: { coin: string }, b: { coin: string }) => (a.coin < b.coin ? -1 : 1))
  expect(byCoin).toEqual(['BTC', 'SOL'].map((coin) => ({ coin, levels: levelsAt(7) })))
})

// WS-31
test('l2BookDiff2: epoch, cursor, seq and prev_seq', () => {
  const fanout = fanoutOf()
  const one = joined(fanout, 'btc', diff(['BTC'], 'l2BookDiff2'))
  block(fanout, 7, '=BTC 4')
  const book_diffs = [{ coin: 'BTC', seq: 7, prev_seq: 4, levels: levelsAt(7) }]
  const Updates = { time: 70, block_height: 7, epoch: 'e1', cursor: '7', book_diffs }
  expect(JSON.parse(one.sent[0]!)).toEqual({ channel: 'l2BookDiff2', data: { Updates } })
})

test('sends the same string to every socket of a body', () => {
  const fanout = fanoutOf()
  const sockets = [socket(), socket(), socket()]
  for (const each of sockets) fanout.add('btc', diff(['BTC']), each)
  block(fanout, 7, '=BTC 4')
  expect(new Set(sockets.map(({ sent }) => sent[0])).size).toBe(1)
})

// WS-30
test('sends a new coin as a snapshot on l2BookDiff wildcards and as a diff on l2BookDiff2', () => {
  const fanout = fanoutOf()
  const wild = joined(fanout, 'wild', diff(null))
  const wild2 = joined(fanout, 'wild2', diff(null, 'l2BookDiff2'))
  const list = joined(fanout, 'list', diff(['BTC']))
  const spot = joined(fanout, 'spot', SPOT)
  block(fanout, 7, '+NEW -1', '=BTC 6')
  const levels = levelsAt(7)
  expect(wild.sent.map((text) => JSON.parse(text).data)).toEqual([
    { Snapshot: { coin: 'NEW', time: 70, block_height: 7, levels } },
    { Updates: { time: 70, block_height: 7, book_diffs: [{ coin: 'BTC', levels }] } },
  ])
  expect(JSON.parse(wild2.sent[0]!).data.Updates.book_diffs).toHaveLength(2)
  expect(list.sent).toHaveLength(1)
  expect(spot.sent).toEqual([])
})

// WS-33
test('lost continuity breaks l2BookDiff sockets with the coin, and is reported to l2BookDiff2', () => {
  const fanout = fanoutOf()
  const has = joined(fanout, 'btc', diff(['BTC']))
  const hasNot = joined(fanout, 'eth', diff(['ETH']))
  const two = joined(fanout, 'btc2', diff(['BTC'], 'l2BookDiff2'))
  block(fanout, 7, '!BTC -1')
  expect([has.why, hasNot.why, two.why]).toEqual([['continuity'], [], []])
  expect(JSON.parse(two.sent[0]!).data.Updates.book_diffs[0]).toMatchObject({ coin: 'BTC', prev_seq: -1 })
})

test("a hub's interest follows the bodies", () => {
  const fanout = fanoutOf()
  const one = socket()
  const hub = shardOf('BTC', SHARDS)
  expect(fanout.needsHub(hub)).toBe(false)
  fanout.add('btc', diff(['BTC']), one)
  fanout.add('wild', SPOT, one)
  expect(fanout.interestOf(hub)).toEqual({ ...NOTHING, coins: new Set(['BTC']), types: new Set(['spot']) })
  fanout.add('checked', booksTarget({ type: 'l2BookDiff2', coin: 'BTC', checksum: true }), one)
  expect(fanout.interestOf(hub).views).toEqual(new Set([coinInterest(CHECKSUM, 'BTC')]))
  expect(fanout.interestOf((hub + 1) % SHARDS).views).toEqual(new Set())
  fanout.remove('checked', one)
  fanout.remove('wild', one)
  expect(fanout.interestOf((hub + 1) % SHARDS)).toEqual(NOTHING)
  expect(fanout.needsHub((hub + 1) % SHARDS)).toBe(false)
  fanout.remove('btc', one)
  expect(fanout.needsHub(hub)).toBe(false)
})

/** Checks the specified lifecycle: a snapshot first, then exactly the heights above it that changed the coin. */
function follow(sent: readonly string[]): Map<string, number[]> {
  const seen = new Map<string, number[]>()
  for (const text of sent) {
    const { Snapshot, Updates } = JSON.parse(text).data
    if (Snapshot) {
      expect(seen.has(Snapshot.coin)).toBe(false)
      seen.set(Snapshot.coin, [Snapshot.block_height])
    }
    for (const { coin } of Updates?.book_diffs ?? []) {
      expect(seen.has(coin)).toBe(true)
      expect(seen.get(coin)!.at(-1)!).toBeLessThan(Updates.block_height)
      seen.get(coin)!.push(Updates.block_height)
    }
  }
  return seen
}

// WS-29
test('invariant: a joining subscriber gets each snapshot once and exactly the changes above it', () => {
  const coins = ['BTC', 'ETH', 'SOL', 'XRP', 'ADA', 'TON']
  const counts = (max: number) => fc.array(fc.nat({ max }), { minLength: coins.length, maxLength: coins.length })
  // `ahead`: how far its hub is ahead of its frames at a snapshot; `before`, `meanwhile`: blocks between snapshots, and
  // between a snapshot's creation and arrival.
  const plan = fc.record({
    changed: fc.array(fc.subarray(coins), { minLength: 12, maxLength: 40 }),
    delivery: fc.infiniteStream(fc.nat({ max: SHARDS - 1 })),
    joinAfter: fc.nat({ max: 30 }),
    ahead: counts(4),
    before: counts(6),
    meanwhile: counts(6),
    late: fc.boolean(),
    isWildcard: fc.boolean(),
  })
  fc.assert(
    fc.property(plan, ({ changed, delivery, joinAfter, ahead, before, meanwhile, late, isWildcard }) => {
      const at = new Array<number>(SHARDS).fill(0)
      const feed = { heightOf: (hub: number) => at[hub] || -1, onSent: () => undefined }
      const fanout = fanoutOf(feed)
      const one = socket()
      const body = diff(isWildcard ? null : coins)
      fanout.add('other hubs', diff(['BTC']), socket())
      const report = (hub: number, nowMs: number) => {
        const height = ++at[hub]!
        const own = changed[height - 1]!.filter((coin) => shardOf(coin, SHARDS) === hub)
        const coins = own.map((coin): [CoinMark, string, number] => ['=', coin, 0])
        fanout.push(hub, frame(height, coins), nowMs)
      }
      const step = () => {
        const hub = delivery.next().value as number
        if (at[hub]! < changed.length) report(hub, late ? at[hub]! * 700 : 0)
      }
      const steps = (count: number) => {
        for (let i = 0; i < count; i++) step()
      }
      steps(joinAfter)
      const joiner = new Joiner(l2BookDiff, SHARDS)
      fanout.add('body', body, one, joiner)
      joiner.expect(coins)
      for (const [index, coin] of coins.entries()) {
        steps(before[index]!)
        fanout.startRecording([coin])
        // The hub may be ahead of its link's frames, never behind.
        const height = Math.min(changed.length, at[shardOf(coin, SHARDS)]! + ahead[index]!)
        steps(meanwhile[index]!)
        fanout.deliverSnapshot('body', one, { coin, height }, textOf(coin, height))
        fanout.stopRecording([coin])
      }
      expect(joiner.isComplete).toBe(true)
      joiner.markSeeded()
      const behind = () => at.findIndex((height) => height < changed.length)
      while (behind() >= 0) report(behind(), 0)
      fanout.tick(1e9)
      const seen = follow(one.sent)
      for (const coin of coins) {
        const [from, ...heights] = seen.get(coin)!
        const due = changed.flatMap((block, index) => (block.includes(coin) && index + 1 > from! ? [index + 1] : []))
        expect(heights).toEqual(due)
      }
      expect(one.why).toEqual([])
      // In the end the next block settles receivers that are served alone.
      for (const height of [changed.length + 1, changed.length + 2]) {
        block(fanout, height, ...coins.map((coin) => `=${coin} 0`))
      }
      expect(fanout.joinerOf('body', one)).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})

// WS-30
test('a coin listed while a wildcard joins gets a snapshot too, and starts by itself later', () => {
  const fanout = fanoutOf()
  const joiner = new Joiner(l2BookDiff, SHARDS)
  const one = joined(fanout, 'wild', diff(null), joiner)
  joiner.expect(['BTC'])
  fanout.startRecording(['BTC'])
  block(fanout, 7, '+NEW -1')
  const handOut = (coin: string, height: number) =>
    fanout.deliverSnapshot('wild', one, { coin, height }, textOf(coin, height))
  handOut('BTC', 7)
  expect(joiner.isComplete).toBe(false)
  expect([...joiner.pendingCoins(shardOf('NEW', SHARDS))]).toEqual(['NEW'])
  handOut('NEW', 8)
  joiner.markSeeded()
  block(fanout, 8, '=NEW 7')
  block(fanout, 9, '=NEW 8', '+NEWER -1')
  const seen = one.sent.map((text) => JSON.parse(text).data)
  expect(seen.map(({ Snapshot, Updates }) => Snapshot?.coin ?? Updates.block_height)).toEqual([
    'BTC',
    'NEW',
    'NEWER',
    9,
  ])
})

// WS-33
test('a coin that lost continuity while its snapshot was in flight breaks its receivers', () => {
  const fanout = fanoutOf()
  const joiner = new Joiner(l2BookDiff, SHARDS)
  const one = joined(fanout, 'btc', diff(['BTC']), joiner)
  joiner.expect(['BTC'])
  fanout.startRecording(['BTC'])
  block(fanout, 7, '!BTC -1')
  expect(one.why).toEqual([])
  fanout.deliverSnapshot('btc', one, { coin: 'BTC', height: 6 }, '{}')
  expect(one.why).toEqual(['continuity'])
})

test('a hub restart does not affect bodies without its coins', () => {
  const fanout = fanoutOf()
  const names = Array.from({ length: 100 }, (_, index) => `C${index}`)
  const [a, b, c] = [0, 1, 2].map((hub) => names.find((coin) => shardOf(coin, SHARDS) === hub)!)
  const both = joined(fanout, 'both', diff([a!, b!]))
  joined(fanout, 'other', diff([c!]))
  const joiner = new Joiner(l2BookDiff, SHARDS)
  joiner.expect([a!])
  const joining = joined(fanout, 'joining', diff([a!]), joiner)
  fanout.startRecording([a!])
  // One hub has reported a height that the other has not when a third restarts.
  fanout.push(0, frame(5, [['=', a!, 4]]), 0)
  fanout.restart(2)
  fanout.push(1, frame(5, [['=', b!, 4]]), 0)
  fanout.deliverSnapshot('joining', joining, { coin: a!, height: 4 }, 'Snapshot')
  expect(both.sent).toHaveLength(1)
  expect(both.sent[0]).toContain(`"${a}"`)
  expect(joining.sent).toEqual(['Snapshot', expect.stringContaining('"block_height":5')])
})
