import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventsPage } from '../../../src/block-log/pages.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventsResponse } from '../../../src/protocol/feed/log-api.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { EventFanout } from '../../../src/relay/events/event-fanout.ts'
import { LogReplays } from '../../../src/relay/events/log-replays.ts'
import { eventsTarget } from '../targets.ts'

const WANTED = eventsTarget({ type: 'allFills' })
const PAGE = 7
/** Blocks of a stored segment. */
const SEGMENT = 3
const [USER, FILL] = EXAMPLE_FILL

/** A client: its frames, and how long it blocks. */
class Receiver {
  readonly frames: { channel: string; fills: [string, { tid: number }][]; data: string; code: string }[] = []
  isEnded = false
  slow = 0
  send(text: string): void {
    this.frames.push(JSON.parse(text))
  }
  snapshotWaitMs(): number {
    return this.slow-- > 0 ? 50 : 0
  }
  get tids(): number[] {
    return this.frames.flatMap(({ channel, fills }) => (channel === 'allFills' ? fills.map(([, { tid }]) => tid) : []))
  }
  get codes(): string[] {
    return this.frames.flatMap(({ code }) => code ?? [])
  }
}

/** A log with blocks from `first` on, a relay some blocks behind it, and calls that a test releases. */
class World {
  first = 101
  /** Heights of the log and of the relay. */
  head: number
  height: number
  /** Blocks that are not stored yet. */
  waiting = 0
  /** Heights that never came. */
  readonly missing = new Set<number>()
  readonly calls: ((failing: boolean) => void)[] = []
  reads = 0
  readonly fanout = new EventFanout<Receiver>(CHANNELS)
  readonly replays = new LogReplays<Receiver>(
    {
      events: (from) => {
        this.reads++
        return new Promise((land, fail) => {
          this.calls.push((failing) => (failing ? fail(new Error('the log is away')) : land(this.page(from))))
        })
      },
      wait: () => new Promise((end) => this.calls.push(() => end())),
      blockHeight: () => this.height,
    },
    this.fanout,
  )

  constructor(head = 100) {
    this.head = head
    this.height = head
  }

  /** Each block has a fill whose `tid` is its height. */
  block(height: number) {
    const fills: UserFill[] = [[USER, { ...FILL, tid: height }]]
    return { v: 1, t: 'events' as const, height, time: 1, fills, ledger: [] }
  }

  /** Responds like the real log, from segments of three blocks unless a gap cuts them. */
  page(from: number): EventsResponse {
    const text = (height: number) => JSON.stringify(this.block(height))
    const stored = this.head - this.waiting
    const isStored = (height: number) => height >= this.first && height <= stored && !this.missing.has(height)
    const segmentWith = (height: number) => {
      if (!isStored(height)) return null
      let begin = height
      let last = height
      while (begin % SEGMENT !== 0 && isStored(begin - 1)) begin--
      while ((last + 1) % SEGMENT !== 0 && isStored(last + 1)) last++
      return { last, text: range(begin, last).map(text).join('\n') }
    }
    const gapAt = (height: number) => {
      let to = height
      while (this.missing.has(to)) to++
      return to === height ? null : to - 1
    }
    const waiting = range(Math.max(this.first, stored + 1), this.head)
      .filter((height) => !this.missing.has(height))
      .map((height) => ({ height, events: text(height) }))
    const first = stored < this.first ? null : this.first
    const content = { height: this.head, first, segmentWith, gapAt, waiting }
    return { v: 1, ...eventsPage(from, content, PAGE * text(100).length) }
  }

  /** The relay receives the log's blocks. */
  catchUp(): void {
    while (this.height < this.head) {
      this.height++
      if (!this.missing.has(this.height)) this.fanout.deliver(this.block(this.height))
    }
  }

  begin(receiver: Receiver, from: number, key = 'all'): Promise<void> {
    return this.replays.start({ key, receiver, echo: '{"type":"allFills"}', nextHeight: from }, WANTED, false)
  }

  async go(failing = false): Promise<void> {
    this.calls.shift()?.(failing)
    await settled()
  }

  async end(): Promise<void> {
    while (this.calls.length > 0) await this.go()
  }
}

const settled = () => new Promise((done) => setImmediate(done))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

// WS-23
it('sends each block once and in order, starting at the requested block, whatever arrives meanwhile', async () => {
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('go' as const), failing: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('log' as const), missing: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('relay' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('begin' as const),
        back: fc.integer({ min: -3, max: 75 }),
        slow: fc.nat(3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat(3) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.nat(9), fc.nat(9), async (steps, waiting, since) => {
      const world = new World(130)
      world.waiting = waiting
      // Old blocks: later ones are no longer stored.
      for (const height of range(60, 90 + since)) world.missing.add(height)
      const receivers: { from: number; receiver: Receiver }[] = []
      for (const one of steps) {
        // If the log is away for long, a replay is given up (another test).
        if (one.do === 'go') await world.go(one.failing && world.calls.length % 3 === 0 && world.reads % 2 === 0)
        else if (one.do === 'relay') world.catchUp()
        else if (one.do === 'leave') {
          const [ended] = receivers.splice(one.who, 1)
          if (ended) world.fanout.remove('all', ended.receiver)
        } else if (one.do === 'log') {
          world.head++
          if (one.missing) world.missing.add(world.head)
        } else {
          const receiver = new Receiver()
          receiver.slow = one.slow
          const from = world.height + 1 - one.back
          receivers.push({ from, receiver })
          void world.begin(receiver, from)
        }
      }
      world.catchUp()
      // A request for future blocks waits for them.
      while (world.head < Math.max(...receivers.map(({ from }) => from))) world.head++
      world.catchUp()
      await world.end()
      world.head++
      world.catchUp()
      for (const { from, receiver } of receivers) {
        const target = range(from, world.head).filter((height) => !world.missing.has(height))
        if (from <= 100) expect(receiver.codes).toContain('replay_unavailable')
        if (!receiver.codes.includes('replay_unavailable')) expect(receiver.tids).toEqual(target)
      }
    }),
    { numRuns: 300 },
  )
})

// WS-23
it('reads a range once for all waiting receivers, and reports missing heights', async () => {
  const world = new World(120)
  world.missing.add(110)
  const receivers = [101, 105, 115].map((from) => ({ from, receiver: new Receiver() }))
  for (const { from, receiver } of receivers) void world.begin(receiver, from)
  await world.end()
  expect(world.reads).toBe(3)
  for (const { from, receiver } of receivers) {
    expect(receiver.tids).toEqual(range(from, 120).filter((height) => height !== 110))
    expect(receiver.codes).toEqual(from < 110 ? ['gap'] : [])
  }
})

// WS-23
it('reports what cannot be replayed, then continues live', async () => {
  const world = new World(120)
  const ended = new Receiver()
  const early = new Receiver()
  const away = new Receiver()
  void world.begin(ended, 50)
  void world.begin(early, 500)
  await world.end()
  void world.begin(away, 110)
  await world.go()
  while (world.calls.length > 0) await world.go(true)
  world.head++
  world.catchUp()
  expect([ended, early, away].map(({ tids, codes }) => [tids, codes])).toEqual(
    [1, 2, 3].map(() => [[121], ['replay_unavailable']]),
  )
})

// WS-23
it('a request for future blocks waits during a stall without delaying others', async () => {
  const world = new World(120)
  const early = new Receiver()
  const late = new Receiver()
  void world.begin(early, 130)
  for (let i = 0; i < 100; i++) await world.go()
  expect(early.frames).toEqual([])
  void world.begin(late, 118)
  for (let i = 0; i < 6; i++) await world.go()
  expect(late.tids).toEqual([118, 119, 120])
  world.head = 133
  world.catchUp()
  await world.end()
  world.head++
  world.catchUp()
  expect([early.tids, late.tids, early.codes]).toEqual([range(130, 134), range(118, 134), []])
})

// WS-23
it('retries a busy log at the time that the log requests', async () => {
  const world = new World(120)
  const receiver = new Receiver()
  let refusals = 20
  const page = world.page.bind(world)
  world.page = (from) => (refusals-- > 0 ? { v: 1, frames: [], first: null, head: 120, retryMs: 400 } : page(from))
  void world.begin(receiver, 101)
  await world.end()
  expect([receiver.tids, receiver.codes]).toEqual([range(101, 120), []])
})

// WS-23
it('a body resubscribed during its replay starts from its new height', async () => {
  const world = new World(130)
  const receiver = new Receiver()
  void world.begin(receiver, 101)
  await world.go()
  await world.go()
  world.fanout.remove('all', receiver)
  receiver.frames.length = 0
  void world.begin(receiver, 120)
  await world.end()
  world.head++
  world.catchUp()
  expect(receiver.tids).toEqual(range(120, 131))
})

// WS-23
it('does not send blocks of an old chain after a failed replay', async () => {
  const world = new World()
  world.head = 120
  world.catchUp()
  const receiver = new Receiver()
  void world.begin(receiver, 200)
  world.height = -1
  await world.end()
  world.fanout.deliver(world.block(5))
  expect([receiver.tids, receiver.codes]).toEqual([[5], ['replay_unavailable']])
})

// WS-61
it('serves many receivers as room becomes available', async () => {
  const world = new World(130)
  const most = 20
  const page = PAGE + 3
  let unread = 0
  let worst = 0
  const receivers = Array.from({ length: 12 }, () => {
    const receiver = new Receiver()
    receiver.snapshotWaitMs = () => (unread + page > most ? 50 : 0)
    receiver.send = (text) => {
      worst = Math.max(worst, ++unread)
      Receiver.prototype.send.call(receiver, text)
    }
    return receiver
  })
  for (const receiver of receivers) void world.begin(receiver, 101)
  while (world.calls.length > 0) {
    await world.go()
    unread = Math.max(0, unread - 5)
  }
  for (const { tids } of receivers) expect(tids).toEqual(range(101, 130))
  expect(worst).toBeLessThanOrEqual(most)
})

// WS-23
it('yields to live blocks while serving hundreds of receivers', async () => {
  const world = new World(108)
  const receivers = Array.from({ length: 300 }, () => new Receiver())
  for (const receiver of receivers) void world.begin(receiver, 101)
  await world.go()
  await world.go()
  const served = () => receivers.filter(({ frames }) => frames.length > 0).length
  expect(served()).toBeGreaterThan(0)
  expect(served()).toBeLessThan(150)
  world.head++
  world.catchUp()
  await world.end()
  for (const { tids } of receivers) expect(tids).toEqual(range(101, 109))
})
