import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import { type Trade, tradesOf } from '../../../src/protocol/feed/trades.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { FirstFrames, type HistoryResponse } from '../../../src/relay/events/first-frames.ts'
import { eventsTarget } from '../targets.ts'

const WANTED = eventsTarget({ type: 'trades', coin: 'BTC' })
/** Maximum lag in blocks of a response without a height. */
const LAG = 29

const sidesOf = (tid: number, time: number): UserFill[] => {
  const fill: Fill = { ...EXAMPLE_FILL[1], tid, time }
  return [
    [EXAMPLE_FILL[0], fill],
    [`0x${'b2'.repeat(20)}`, { ...fill, side: 'A', crossed: false }],
  ]
}

/** A chain of trades, one relay's fan-out, and scripted responses and time. */
class World {
  height = 100
  readonly trades: { readonly height: number; readonly trade: Trade }[] = []
  readonly reads: ((answer: HistoryResponse | null) => void)[] = []
  readonly #coming: UserFill[][] = []
  readonly waits: { readonly ms: number; readonly sinceHeight: number; readonly end: () => void }[] = []
  readonly fanout = new EventFanout<Receiver>(CHANNELS)
  readonly first = new FirstFrames<Receiver>(
    {
      read: () => new Promise((land) => this.reads.push(land)),
      wait: (ms) => new Promise((end) => this.waits.push({ ms, sinceHeight: this.height, end })),
      blockHeight: () => this.height,
      clock: { nowMs: 0 },
    },
    this.fanout,
  )

  /** The next block happens, but has not arrived here. */
  grow(trades: number): void {
    const head = this.height + this.#coming.length + 1
    const fills = Array.from({ length: trades }, (_, i) => sidesOf(this.trades.length + 1 + i, head)).flat()
    for (const trade of tradesOf(fills)) this.trades.push({ height: head, trade })
    this.#coming.push(fills)
  }

  block(trades: number): void {
    this.grow(trades)
    for (const fills of this.#coming.splice(0)) {
      this.height++
      this.fanout.deliver({ v: 1, t: 'events', height: this.height, time: this.height, fills, ledger: [] })
    }
  }

  /** Info response: up to this many blocks ago (negative: ahead), and whether it has a height. */
  async land(behind: number, saysHeight: boolean): Promise<void> {
    const height = Math.min(this.height - behind, this.height + this.#coming.length)
    const rows = this.trades.filter((one) => one.height <= height).map(({ trade }) => trade)
    const body = JSON.stringify(rows.slice(-30).reverse())
    this.reads.shift()?.(saysHeight ? { body, height } : { body })
    await settled()
  }

  async pass(): Promise<void> {
    const wait = this.waits.shift()
    // Two seconds are thirty blocks.
    while (wait && this.height < wait.sinceHeight + (wait.ms * 15) / 1000) this.block(1)
    wait?.end()
    await settled()
  }
}

class Receiver {
  /** The relay's height at the acknowledgement. */
  readonly since: number
  readonly frames: { channel: string; data: Trade[] }[] = []
  constructor({ height }: World) {
    this.since = height
  }
  send(text: string): void {
    this.frames.push(JSON.parse(text))
  }
  get tids(): number[] {
    return this.frames.flatMap(({ channel, data }) => (channel === 'trades' ? data.map(({ tid }) => tid) : []))
  }
}

const settled = () => new Promise((done) => setImmediate(done))

/** A world after this many blocks, and a receiver that starts there. */
function startedWorld(blocks: number) {
  const world = new World()
  for (let i = 0; i < blocks; i++) world.block(1)
  const receiver = new Receiver(world)
  const begins = world.first.start('key', WANTED, false, receiver)
  return { world, receiver, begins }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('block' as const), trades: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('land' as const),
      behind: fc.integer({ min: -4, max: LAG }),
      says: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('grow' as const), trades: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
const block = (trades: number) => ({ do: 'block' as const, trades })
/** A response without room for all trades since the acknowledgement, this many blocks ahead of those that arrived. */
const aheadBy = (ahead: number, says: boolean): [Step[]] => [
  [
    ...Array.from({ length: LAG + 1 }, () => block(1)),
    { do: 'join' as const },
    ...[block(3), block(31)],
    ...Array.from({ length: ahead }, () => ({ do: 'grow' as const, trades: 32 })),
    ...[{ do: 'land' as const, behind: -ahead, says }, block(2), { do: 'pass' as const }, block(1)],
  ],
]

// WS-46, WS-60, WS-100
it('nothing is missing or sent twice between the first frame and the blocks, however late or early the response', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const world = new World()
      const receivers: Receiver[] = []
      for (const one of steps) {
        if (one.do === 'block') world.block(one.trades)
        else if (one.do === 'grow') world.grow(one.trades)
        else if (one.do === 'land') await world.land(one.behind, one.says)
        else if (one.do === 'fail') world.reads.shift()?.(null)
        else if (one.do === 'pass') await world.pass()
        else if (one.do === 'leave') {
          const [removed] = receivers.splice(one.who, 1)
          if (removed) world.fanout.remove('key', removed)
        } else {
          const receiver = new Receiver(world)
          receivers.push(receiver)
          void world.first.start('key', WANTED, false, receiver)
        }
        await settled()
        // A pong may report this height. A client that resumes from it gets exactly the later blocks.
        for (const receiver of receivers.filter((each) => !world.fanout.hasPending(each))) {
          const last = world.trades.find(({ trade }) => trade.tid === receiver.tids.at(-1))
          expect(last?.height ?? 0).toBeLessThanOrEqual(world.height)
        }
      }
      while (world.reads.length + world.waits.length > 0) {
        await world.land(0, true)
        await world.pass()
      }
      world.block(2)
      const all = world.trades.map(({ trade }) => trade.tid)
      for (const { tids, since } of receivers) {
        expect(tids).toEqual(all.slice(all.indexOf(tids[0]!)))
        expect(all.indexOf(tids[0]!)).toBeLessThanOrEqual(world.trades.findIndex(({ height }) => height > since))
      }
    }),
    { numRuns: 300, examples: [0, 1, 10].flatMap((ahead) => [true, false].map((says) => aheadBy(ahead, says))) },
  )
})

// WS-46
it('starts with the last thirty trades, oldest first', async () => {
  const { world, receiver } = startedWorld(40)
  world.block(1)
  await settled()
  // Our own history is a second behind. Recent blocks fill the rest.
  await world.land(15, true)
  expect(receiver.frames[0]!.data.map(({ tid }) => tid)).toEqual(Array.from({ length: 26 }, (_, i) => i + 1))
  expect(receiver.tids).toEqual(Array.from({ length: 41 }, (_, i) => i + 1))
  world.block(0)
  world.block(1)
  expect(receiver.tids).toHaveLength(42)
})

// WS-100
it.each([true, false])('does not resend what a response shows of future blocks: with a height %s', async (says) => {
  const { world, receiver } = startedWorld(LAG + 1)
  for (let i = 0; i < LAG + 1; i++) world.block(1)
  await settled()
  world.grow(1)
  await world.land(-1, says)
  // It waits for future blocks, whose rows go before it.
  expect([receiver.tids.length > 0, world.fanout.hasPending(receiver)]).toEqual([false, true])
  const other = new Receiver(world)
  world.fanout.add('key', WANTED, false, other)
  world.block(2)
  await world.pass()
  world.block(1)
  const all = world.trades.map(({ trade }) => trade.tid)
  expect(receiver.tids).toEqual(all.slice(all.indexOf(receiver.tids[0]!)))
  expect(other.tids).toEqual(all.slice(-4))
  expect(world.fanout.hasPending(receiver)).toBe(!says)
  world.fanout.remove('key', receiver)
  world.fanout.remove('key', other)
  expect(world.fanout.size).toBe(0)
})

// WS-100
it('repeats the request if a response does not reach the first block', async () => {
  const { world, receiver } = startedWorld(0)
  world.block(1)
  await settled()
  await world.land(2, true)
  expect([receiver.frames, world.waits.length]).toEqual([[], 1])
  await world.pass()
  await world.land(1, true)
  expect(receiver.frames.length).toBeGreaterThan(0)
  expect(receiver.tids).toEqual(world.trades.map(({ trade }) => trade.tid))
})

// WS-100
it('sends a notice if the history is unavailable, then the later events', async () => {
  const { world, receiver, begins } = startedWorld(1)
  world.block(1)
  for (const answer of [null, { body: 'no JSON' }, { body: 'null', height: 1e9 }, { body: '{}' }, null, null]) {
    await settled()
    world.reads.shift()!(answer)
    await settled()
    await world.pass()
  }
  await begins
  expect(receiver.frames[0]).toMatchObject({
    channel: 'notification',
    data: { notification: expect.any(String) },
  })
  expect(receiver.tids).toEqual(world.trades.slice(1).map(({ trade }) => trade.tid))
  expect(world.fanout.size).toBe(1)
})
