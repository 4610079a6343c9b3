import { describe, expect, it } from 'vitest'
import { RelayLink } from '../../src/order-books/relay-link.ts'
import { RING_CHARS, RING_MS, Ring } from '../../src/order-books/ring.ts'
import { CHECKPOINT_MS, ROTATION_MS, Rotation } from '../../src/order-books/rotation.ts'
import { BBO, MID } from '../../src/order-books/view.ts'
import { CHECKSUM, coinInterest, typeInterest } from '../../src/order-books/view-interests.ts'
import { decodeHubFrame, encodeFragment, encodeHubFrame, encodeViewFragment } from '../../src/protocol/hub/hub-link.ts'

const entry = (height: number, time = height) => ({ tick: { v: 1, epoch: 'e', height, time }, fragments: [] })

const at = (height: number, epoch = 'e') => ({ height, epoch })

describe('the ring', () => {
  it('returns the entries after a height, or null', () => {
    const ring = new Ring()
    expect(ring.entriesAfter(at(0))).toBeNull()
    for (let height = 5; height <= 8; height++) ring.push(entry(height))
    expect(ring.entriesAfter(at(6))?.map(({ tick }) => tick.height)).toEqual([7, 8])
    expect(ring.entriesAfter(at(4))?.length).toBe(4)
    expect(ring.entriesAfter(at(8))).toEqual([])
    expect(ring.entriesAfter(at(3))).toBeNull()
  })

  const sized = (height: number, chars: number) => ({
    ...entry(height),
    fragments: [{ mark: '=' as const, coin: 'BTC', prevSeq: 0, levels: 'x'.repeat(chars - 100) }],
  })
  const held = (ring: Ring, to: number) => ring.entriesAfter(at(to))?.length

  it('is bounded by characters, 100 per fragment, and always has the newest entry', () => {
    const ring = new Ring()
    for (const height of [1, 2, 3, 4]) ring.push(sized(height, RING_CHARS / 2))
    expect([ring.entriesAfter(at(1)), held(ring, 2)]).toEqual([null, 2])
    ring.push(sized(5, RING_CHARS + 1))
    expect([ring.entriesAfter(at(3)), held(ring, 4)]).toEqual([null, 1])
    const many = Array(Math.floor(RING_CHARS / 200)).fill(sized(0, 100).fragments[0])
    for (const height of [6, 7, 8]) ring.push({ ...entry(height), fragments: many })
    expect([ring.entriesAfter(at(5)), held(ring, 6)]).toEqual([null, 2])
  })

  it('is bounded by thirty seconds, to the millisecond, even after thousands of blocks', () => {
    const ring = new Ring()
    for (let time = 0; time <= 5 * RING_MS; time += 10) ring.push(entry(time))
    expect([ring.entriesAfter(at(4 * RING_MS - 2)), held(ring, 4 * RING_MS - 1)]).toEqual([null, RING_MS / 10 + 1])
  })

  it('starts over with a height that it already had', () => {
    const ring = new Ring()
    for (const height of [5, 6, 20, 20]) ring.push(entry(height))
    expect([ring.entriesAfter(at(6)), held(ring, 19)]).toEqual([null, 1])
  })

  it('returns entries after a height across a gap, and drops those of a different chain', () => {
    const ring = new Ring()
    for (const height of [5, 6, 20, 21, 22]) ring.push(entry(height))
    expect(ring.entriesAfter(at(6))?.map(({ tick }) => tick.height)).toEqual([20, 21, 22])
    expect(ring.entriesAfter(at(21))?.map(({ tick }) => tick.height)).toEqual([22])
    ring.push(entry(3))
    expect(ring.entriesAfter(at(21))).toEqual([])
    expect(ring.entriesAfter(at(2))?.map(({ tick }) => tick.height)).toEqual([3])
    expect(ring.entriesAfter(at(1))).toBeNull()
  })

  it('does not continue from an earlier cursor of a different chain', () => {
    const ring = new Ring()
    for (let height = 1; height <= 20; height++) ring.push(entry(height))
    expect([ring.entriesAfter(at(10, 'before')), ring.entriesAfter(at(0, 'before'))]).toEqual([null, null])
    expect([ring.entriesAfter(at(10, ''))?.length, ring.entriesAfter(at(10))?.length]).toEqual([10, 10])
  })

  it('continues across a new epoch of the same chain', () => {
    const ring = new Ring()
    for (const [height, epoch] of [
      [1, 'e'],
      [2, null],
      [3, null],
      [4, 'f'],
      [5, 'f'],
    ] as const)
      ring.push({ tick: { v: 1, epoch, height, time: height }, fragments: [] })
    const lengths = [at(1), at(2), at(3), at(4, 'f')].map((cursor) => ring.entriesAfter(cursor)?.length)
    expect(lengths).toEqual([4, 3, 2, 1])
  })
})

describe('frames between hub and relay', () => {
  it('survive encoding and decoding', () => {
    const fragments = [
      { mark: '=' as const, coin: 'BTC', prevSeq: 7, levels: '[[{"px":"1","sz":"2","n":1}],[]]' },
      { mark: '!' as const, coin: 'PURR/USDC', prevSeq: -1, levels: '[[],[]]' },
    ]
    const tick = { v: 1, epoch: null, height: 8, time: 9 }
    expect(decodeHubFrame(encodeHubFrame(tick, fragments.map(encodeFragment).join('')))).toEqual({
      ...tick,
      coins: fragments,
    })
    expect(decodeHubFrame(encodeHubFrame(tick, ''))).toEqual({ ...tick, coins: [] })
    const views = [
      { view: BBO, coin: 'BTC', piece: '[{"px":"1","sz":"2","n":1},null]' },
      { view: MID, coin: '@1', piece: '' },
    ]
    expect(decodeHubFrame(encodeHubFrame(tick, views.map(encodeViewFragment).join('')))).toEqual({
      ...tick,
      coins: [],
      views,
    })
  })

  it("contain the coins and market types of a relay's interest, or only a tick", () => {
    const sent: string[] = []
    const link = new RelayLink('r', { coins: ['BTC'], types: ['spot'], views: [] }, null, (text) => sent.push(text))
    const coins = ['BTC', 'ETH', '@1', '#1'].map((coin) => {
      return { coin, text: encodeFragment({ mark: '=', coin, prevSeq: 1, levels: '[[],[]]' }) }
    })
    const tick = { v: 1, epoch: 'e', height: 2, time: 3 }
    link.send(tick, coins)
    link.setInterest({ coins: [], types: [], views: [] })
    link.send(tick, coins)
    expect(sent.map((text) => decodeHubFrame(text).coins.map(({ coin }) => coin))).toEqual([['BTC', '@1'], []])
  })

  it('carry checksums to the relays that want them', () => {
    const text = encodeFragment({ mark: '=', coin: 'BTC', prevSeq: 1, levels: '[[],[]]' })
    const spot = encodeFragment({ mark: '+', coin: '@1', prevSeq: 1, levels: '[[],[]]' })
    const tick = { v: 1, epoch: 'e', height: 2, time: 3 }
    const carried = (...views: string[]) => {
      let sent = ''
      const keep = (frame: string) => {
        sent = frame
      }
      const link = new RelayLink('r', { coins: ['BTC'], types: ['spot'], views }, null, keep)
      link.send(tick, [
        { coin: 'BTC', text, checksum: 4_294_967_295 },
        { coin: '@1', text: spot, checksum: 0 },
      ])
      return decodeHubFrame(sent).coins.map(({ checksum }) => checksum)
    }
    expect(carried()).toEqual([undefined, undefined])
    expect(carried(coinInterest(CHECKSUM, 'BTC'))).toEqual([4_294_967_295, undefined])
    expect(carried(typeInterest(CHECKSUM, 'spot'), coinInterest(MID, 'BTC'))).toEqual([undefined, 0])
  })

  it("contain a relay's views, and all of them after a new interest", () => {
    const sent: string[] = []
    const interest = { coins: [], types: [], views: [coinInterest(BBO, 'BTC')] }
    const link = new RelayLink('r', interest, null, (text) => sent.push(text))
    const tick = { v: 1, epoch: 'e', height: 2, time: 3 }
    const pieces = [BBO, MID].flatMap((view) => ['BTC', 'ETH'].map((coin) => ({ view, coin, piece: '1' })))
    link.send(tick, [], pieces)
    link.setInterest({ coins: [], types: [], views: [coinInterest(BBO, 'BTC')] })
    expect(link.needsFullViews).toBe(false)
    link.setInterest({ coins: [], types: [], views: [typeInterest(MID, 'perp')] })
    expect(link.needsFullViews).toBe(true)
    link.send(tick, [], pieces)
    expect(sent.map((text) => decodeHubFrame(text).views?.map(({ view, coin }) => view + coin))).toEqual([
      ['0 bboBTC'],
      ['0 midBTC', '0 midETH'],
    ])
  })
})

describe('the rotation of checkpoints', () => {
  it('stores every changed coin within its period, a few at a time', () => {
    const rotation = new Rotation()
    for (let i = 0; i < 100; i++) rotation.markChanged(`coin${i}`, 1)
    const seen = new Set<string>()
    let largest = 0
    for (let now = CHECKPOINT_MS; now <= 2 * ROTATION_MS; now += CHECKPOINT_MS) {
      const due = rotation.due(now, 5)
      largest = Math.max(largest, due.length)
      for (const [coin] of due) seen.add(coin)
      expect(rotation.due(now + 1, 5)).toEqual([])
    }
    expect(largest).toBe(4)
    expect(seen.size).toBeGreaterThan(85)
  })

  it('reports how far stored checkpoints are valid, and again when nothing changes', () => {
    const rotation = new Rotation()
    rotation.markChanged('A', 7)
    rotation.markChanged('B', 8)
    rotation.markChanged('A', 9)
    expect(rotation.cleanUpTo(9)).toBe(6)
    expect(rotation.due(CHECKPOINT_MS, 9)).toEqual([['A', 7]])
    expect(rotation.cleanUpTo(9)).toBe(7)
    expect(rotation.due(2 * CHECKPOINT_MS, 9)).toEqual([['B', 8]])
    expect(rotation.cleanUpTo(9)).toBe(9)
    expect(rotation.due(3 * CHECKPOINT_MS, 10)).toEqual([])
    expect(rotation.due(2 * CHECKPOINT_MS + ROTATION_MS, 500)).toEqual([['B', 500]])
    rotation.clear()
    expect(rotation.due(9 * ROTATION_MS, 900)).toEqual([])
  })
})

const CURSOR = { epoch: 'e', height: 10 }

// WS-130
it.each([
  ['of a height that it has, and drops', CURSOR, 'e', 10, true],
  ['above where it stands', CURSOR, 'e', 11, false],
  ['of another chain of books', CURSOR, 'f', 3, false],
  ['and begins with it', null, 'e', 10, false],
])(
  'a relay with wants that is sent a block %s is still to be shown all of them: %#',
  (_, cursor, epoch, height, isFresh) => {
    const interest = { coins: [], types: [], views: [coinInterest(BBO, 'BTC')] }
    const relay = new RelayLink('relay', interest, cursor, () => undefined)
    const tick = { v: 1, epoch, height, time: 1 }
    relay.send(tick, [])
    expect(relay.needsFullViews).toBe(true)
    relay.send(tick, [], [])
    expect(relay.needsFullViews).toBe(isFresh)
    relay.send({ ...tick, height: 11 }, [], [])
    expect(relay.needsFullViews).toBe(false)
  },
)
