import { expect, it } from 'vitest'
import type { ArchivedBook, ArchivedSegment, ArchiveReader } from '../../../src/archive/archive/archive-read.ts'
import { ArchiveDamage } from '../../../src/archive/archive/archive-read.ts'
import { archiveMemory, TASK_BYTES } from '../../../src/archive/archive-memory.ts'
import type { ReplayFrame, ReplayRange } from '../../../src/protocol/relay/protocol.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { type Frame, World } from '../world.ts'

const [USER, FILL] = EXAMPLE_FILL
const FIRST = 100
const DEPOSIT = { users: [USER], hash: '0x0', delta: { type: 'deposit', usdc: '1' } }
const STEP_MS = 10_000
const timeOf = (height: number) => 600_000 + (height - FIRST) * STEP_MS
const bid = (height: number) => [{ px: `${height}.0`, sz: '1', n: 1 }]

/** Blocks FIRST to FIRST + 19, ten per segment, with a fill and a bid in each. */
class Archive implements ArchiveReader {
  readonly missing = new Set<number>()
  readonly damaged = new Set<number>()
  /** Only the fills of this segment are known. */
  partly = -1
  /** Height of the only checkpoint. */
  checkpoint = FIRST
  /** R2 does not respond. */
  isAway = false
  reads = 0

  async segmentsFrom(at: { height: number } | { timeMs: number }): Promise<ArchivedSegment[]> {
    return [FIRST, FIRST + 10]
      .map((first) => ({
        chain: 'c',
        first,
        last: first + 9,
        firstMs: timeOf(first),
        lastMs: timeOf(first + 9),
        epoch: 'e',
      }))
      .filter(({ last, lastMs }) => ('height' in at ? last >= at.height : lastMs >= at.timeMs))
      .slice(0, 1)
  }
  async last() {
    return FIRST + 19
  }
  async *lines({ first, last }: ArchivedSegment, kind: 'events' | 'books'): AsyncGenerator<string> {
    this.reads++
    if (this.isAway) throw new Error('no answer')
    if (this.damaged.has(first)) throw new ArchiveDamage('key', 'altered')
    for (let height = first; height <= last; height++) {
      if (this.missing.has(height)) continue
      const head = { v: 1, epoch: 'e', height, time: timeOf(height) }
      const books = [{ coin: 'BTC', levels: [bid(height), []] }]
      const fills = [[USER, { ...FILL, tid: height }]]
      const ledger = first === this.partly ? [] : [{ ...DEPOSIT, time: timeOf(height) }]
      const only = first === this.partly ? { only: 'fills' } : {}
      yield JSON.stringify(
        kind === 'books'
          ? { ...head, t: 'block', px: {}, books }
          : { ...only, ...head, t: 'events', fills, ledger, through: [] },
      )
    }
  }
  async checkpointAt(height: number) {
    const at = this.checkpoint
    return height >= at ? { epoch: 'e', height: at, time: timeOf(at) } : null
  }
  async checkpointAfter(height: number) {
    return height < this.checkpoint ? this.checkpointAt(this.checkpoint) : null
  }
  async *books(height: number): AsyncGenerator<ArchivedBook> {
    yield { coin: 'BTC', height, seq: height, levels: [bid(height), []] }
  }
  async gaps() {
    return []
  }
}

const FILLS = { type: 'allFills', coin: 'BTC' }

async function play(
  world: World,
  replay: ReplayRange,
  body: { type: string } = FILLS,
  fromBlock?: number,
): Promise<void> {
  const frame = {
    method: 'subscribe',
    subscription: body,
    replay,
    ...(fromBlock !== undefined && { fromBlock }),
  } as const
  await world.subscriptions.subscribe(world.connection, frame)
}
const done = async (world: World) => {
  while (world.work.length > 0) await Promise.all(world.work.splice(0))
}
const steer = (world: World, action: ReplayFrame['action'], more = {}) =>
  world.subscriptions.controlReplay(world.connection, { method: 'replay', action, subscription: FILLS, ...more })

/** Shortened frames of a client. */
const outputs = ({ frames }: World) =>
  frames.map(({ channel, data, fills, code }: Frame) => {
    if (channel === 'replay') return [data.event, data.from, data.to].filter((one) => one !== undefined).join(' ')
    if (channel === 'error') return code
    const diffs = data?.Updates && `${data.Updates.block_height} after ${data.Updates.book_diffs[0].prev_seq}`
    return fills?.[0][1].tid ?? diffs ?? data?.Snapshot?.block_height ?? channel
  })
const heights = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

// WS-155, WS-157
it('replays events in time, reports the end, and charges per minute of data', async () => {
  const world = new World(new Archive())
  const began = world.clock.nowMs
  await play(world, { fromBlock: FIRST + 5, toBlock: FIRST + 14, speed: 10 })
  await done(world)
  expect(outputs(world)).toEqual(['subscriptionResponse', ...heights(FIRST + 5, FIRST + 14), 'ended'])
  expect(world.clock.nowMs - began).toBeGreaterThanOrEqual((9 * STEP_MS) / 10)
  await world.tick()
  expect(world.meter.charges.length).toBe(
    new Set(heights(105, 114).map((height) => Math.floor(timeOf(height) / 60_000))).size,
  )
  await world.subscribe(FILLS)
  expect(outputs(world).at(-1)).toBe('subscriptionResponse')
})

// WS-158
it('reports missing and unreadable blocks', async () => {
  const archive = new Archive()
  for (const height of [103, 104]) archive.missing.add(height)
  archive.damaged.add(FIRST + 10)
  const world = new World(archive)
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 12, speed: 'max' })
  await done(world)
  expect(outputs(world)).toEqual([
    ...['subscriptionResponse', ...heights(100, 102), 'gap 103 104', ...heights(105, 109)],
    ...['gap 110 112', 'ended'],
  ])
})

it('waits for an unresponsive archive without reporting a gap', async () => {
  const archive = new Archive()
  archive.isAway = true
  const world = new World(archive)
  await play(world, { fromTime: timeOf(FIRST + 3), toBlock: FIRST + 4, speed: 'max' })
  while (archive.reads < 3) await new Promise((go) => setImmediate(go))
  expect(outputs(world)).toEqual(['subscriptionResponse'])
  archive.isAway = false
  await done(world)
  expect(outputs(world)).toEqual(['subscriptionResponse', 103, 104, 'ended'])
})

// WS-157
it('ends after five minutes without data', async () => {
  const world = new World(new Archive())
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 19, speed: 1 })
  steer(world, 'pause')
  const began = world.clock.nowMs
  await done(world)
  expect(outputs(world)).toEqual(['subscriptionResponse', 'paused', 'ended'])
  expect(world.clock.nowMs - began).toBeGreaterThanOrEqual(300_000)
})

// WS-159
it('continues live if its start is not archived yet', async () => {
  const world = new World(new Archive())
  world.eventsHeight = FIRST + 19
  await play(world, { fromTime: timeOf(FIRST + 30), speed: 'max' })
  await done(world)
  expect(outputs(world)).toEqual(['subscriptionResponse', 'live 120'])
})

// WS-159
it('keeps its body until live takes over: duplicates are rejected, and an unsubscribe stops it', async () => {
  const world = new World(new Archive())
  world.eventsHeight = FIRST + 19
  let open = () => {}
  world.meterGate = new Promise((go) => {
    open = () => go(undefined)
  })
  await play(world, { fromTime: timeOf(FIRST + 30), speed: 'max' })
  for (let turn = 0; turn < 20; turn++) await new Promise((go) => setImmediate(go))
  await world.subscriptions.subscribe(world.connection, { method: 'subscribe', subscription: FILLS })
  world.unsubscribe(FILLS)
  open()
  await done(world)
  world.eventBlock({ fills: [[USER, { ...FILL, tid: 120 }]] })
  expect(outputs(world)).toEqual(['subscriptionResponse', 'already_subscribed', 'subscriptionResponse'])
})

// WS-157
it('pauses, resumes and seeks; it ends with the unsubscribe', async () => {
  const world = new World(new Archive())
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 19, speed: 1 })
  steer(world, 'pause')
  for (let turn = 0; turn < 20; turn++) await new Promise((go) => setImmediate(go))
  expect(outputs(world)).toEqual(['subscriptionResponse', 'paused'])
  steer(world, 'seek', { fromTime: timeOf(FIRST + 18) })
  steer(world, 'resume')
  await done(world)
  expect(outputs(world).slice(2)).toEqual(['sought', 'playing', 118, 119, 'ended'])
  steer(world, 'pause')
  expect(outputs(world).at(-1)).toBe('invalid_request')
  await play(world, { fromBlock: FIRST, speed: 1 })
  world.unsubscribe(FILLS)
  await done(world)
  expect(outputs(world).slice(-2)).toEqual(['subscriptionResponse', 'subscriptionResponse'])
})

// WS-159
it('without an end, continues with the log and then live', async () => {
  const world = new World(new Archive())
  world.eventsHeight = FIRST + 19
  await play(world, { fromBlock: FIRST + 17, speed: 'max' })
  await done(world)
  expect(outputs(world)).toEqual(['subscriptionResponse', 117, 118, 119, 'live 120'])
  world.eventBlock({ fills: [[USER, { ...FILL, tid: 120 }]] })
  expect(outputs(world).at(-1)).toBe(120)
})

// WS-156
it.each([
  ['l2BookDiff', [104, 'undefined']],
  ['l2BookDiff2', ['105 after 104', '106 after 105']],
])('replays %s from the books before it', async (type, first) => {
  const world = new World(new Archive())
  await play(world, { fromBlock: FIRST + 5, toBlock: FIRST + 6, speed: 'max' }, { type, coin: 'BTC' } as never)
  await done(world)
  const frames = outputs(world)
  if (type === 'l2BookDiff2') expect(frames).toEqual(['subscriptionResponse', ...first, 'ended'])
  else {
    expect(frames.slice(0, 2)).toEqual(['subscriptionResponse', 104])
    expect(world.frames[1].data.Snapshot.levels[0].length).toBe(5)
    expect(world.frames.slice(2, -1).map(({ data }: Frame) => data.Updates.block_height)).toEqual([105, 106])
  }
})

// WS-158
it('starts books at the first checkpoint, in the same minute of data', async () => {
  const archive = new Archive()
  archive.checkpoint = FIRST + 2
  const world = new World(archive)
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 4, speed: 'max' }, {
    type: 'l2BookDiff',
    coin: 'BTC',
  } as never)
  await done(world)
  expect(outputs(world).slice(0, 3)).toEqual(['subscriptionResponse', 'unknown 100', FIRST + 2])
  expect(world.frames.slice(3, -1).map(({ data }: Frame) => data.Updates.block_height)).toEqual([103, 104])
  expect(Math.floor(timeOf(FIRST) / 60_000)).toBe(Math.floor(timeOf(FIRST + 4) / 60_000))
})

// WS-155, WS-156
it.each([
  [undefined, FILLS, 'unavailable'],
  [new Archive(), { type: 'bbo', coin: 'BTC' }, 'invalid_request'],
  [new Archive(), { type: 'l2BookDiff', coin: 'BTC' }, 'invalid_request'],
])('rejects what it cannot replay, uncharged: %#', async (archive, body, code) => {
  const world = new World(archive)
  await play(world, { fromBlock: 1 }, body)
  expect([outputs(world), world.meter.charges]).toEqual([[code], []])
})

it('rejects a duplicate body, too many replays, and `fromBlock` next to `replay`', async () => {
  const world = new World(new Archive())
  await play(world, { fromBlock: FIRST }, FILLS, 7)
  for (const body of [FILLS, FILLS, { type: 'allFills' }, { type: 'liquidationFills' }])
    await play(world, { fromBlock: FIRST, speed: 1 }, body)
  const codes = world.frames.flatMap(({ code }: Frame) => code ?? [])
  expect(codes).toEqual(['invalid_request', 'already_subscribed', 'rate_limited'])
  world.connection.end(1000, 'enough')
  await done(world)
})

it('sends only what was paid for', async () => {
  const world = new World(new Archive())
  world.meter.cap = 2_000_000
  await play(world, { fromBlock: FIRST, speed: 'max', toBlock: FIRST + 19 })
  await done(world)
  const paid = heights(FIRST, FIRST + 19).filter((height) => timeOf(height) < 720_000)
  expect(outputs(world)).toEqual(['subscriptionResponse', ...paid, 'credits_exhausted'])
})

// WS-156
it.each([
  ['allFills', { type: 'allFills', coin: 'WAT' }],
  ['trades', { type: 'trades', coin: 'WAT' }],
  ['l2BookDiff2', { type: 'l2BookDiff2', coin: ['BTC', 'WAT'] }],
])('rejects unknown coins, uncharged, and replays former ones: %s', async (_, body) => {
  const range = { fromBlock: FIRST, toBlock: FIRST + 1, speed: 'max' } as const
  const world = new World(new Archive())
  await play(world, range, body)
  await done(world)
  expect([outputs(world), world.meter.charges]).toEqual([['not_found'], []])
  world.traded = ['WAT']
  await play(world, range, body)
  await done(world)
  expect(outputs(world).at(-1)).toBe('ended')
  const away = new World(new Archive())
  away.ready = false
  await play(away, range, body)
  await done(away)
  expect(outputs(away).at(-1)).toBe('ended')
})

// WS-157
it('reports which connections have replays', async () => {
  const world = new World(new Archive())
  const { id } = world.connection
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 9, speed: 'max' })
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 9, speed: 'max' }, { type: 'allFills' })
  expect(world.playing).toEqual([[id, true]])
  await done(world)
  expect(world.playing).toEqual([
    [id, true],
    [id, false],
  ])
})

// WS-158
it('replays blocks with only fills for fill channels, and reports a gap for others', async () => {
  const archive = new Archive()
  archive.partly = FIRST
  const range = { fromBlock: FIRST + 3, toBlock: FIRST + 11, speed: 'max' } as const
  const events = async (type: string, body = {}) => {
    const world = new World(archive)
    await play(world, range, { type, ...body })
    await done(world)
    return outputs(world)
  }
  expect(await events('allFills')).toEqual(['subscriptionResponse', ...heights(103, 111), 'ended'])
  const ledger = 'userNonFundingLedgerUpdates'
  const wallets = { addresses: [USER] }
  expect(await events(ledger, wallets)).toEqual(['subscriptionResponse', 'gap 103 109', ledger, ledger, 'ended'])
  for (const [type, body] of [
    ['userTwapHistory', { user: USER }],
    ['builderLiquidations', { builder: USER }],
  ] as const)
    expect(await events(type, body)).toEqual(['subscriptionResponse', 'gap 103 109', 'ended'])
})

it('waits with reading while other tasks of the isolate use its memory', async () => {
  const world = new World(new Archive())
  const began = world.clock.nowMs
  archiveMemory.reserve(TASK_BYTES.round + TASK_BYTES.merge, began, 5_000)
  await play(world, { fromBlock: FIRST, toBlock: FIRST + 1, speed: 'max' })
  await done(world)
  expect(world.clock.nowMs - began).toBeGreaterThanOrEqual(5_000)
  expect(outputs(world)).toEqual(['subscriptionResponse', FIRST, FIRST + 1, 'ended'])
})
