import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_AHEAD_BYTES,
  MAX_ISOLATE_AHEAD_BYTES,
  Player,
  type ReplayBlock,
  type ReplayItem,
  type ReplayPlan,
  type ReplayPosition,
} from '../../../src/archive/replay/player.ts'
import { ReadAhead } from '../../../src/archive/replay/read-ahead.ts'

type Block = ReplayBlock<number>

const FIRST = 1000
const block = (height: number, time: number, bytes = 1): Block => ({ height, time, bytes, block: height })

/** Blocks of an archive: heights from FIRST on, of which some are missing, at times that never go back. */
const archives = fc
  .array(fc.record({ stepMs: fc.integer({ min: 0, max: 400 }), missing: fc.integer({ min: 0, max: 12 }) }), {
    minLength: 1,
    maxLength: 60,
  })
  .map((steps) => {
    let height = FIRST - 1
    let time = 50_000
    return steps.map(({ stepMs, missing }) => {
      height += missing > 9 ? missing - 8 : 1
      time += stepMs
      return block(height, time)
    })
  })

/** What an archive answers: the run of blocks without a hole that holds or follows a place, from its beginning. */
function runAt(archive: readonly Block[], place: ReplayPosition): Block[] {
  const isThere = ({ height, time }: Block) => ('height' in place ? height >= place.height : time >= place.timeMs)
  const at = archive.findIndex(isThere)
  if (at < 0) return []
  let from = at
  let to = at + 1
  while (from > 0 && archive[from - 1]!.height === archive[from]!.height - 1 && at - from < 3) from--
  while (to < archive.length && archive[to]!.height === archive[to - 1]!.height + 1 && to - at < 7) to++
  return archive.slice(from, to)
}

function read(player: Player<number>, archive: readonly Block[]): void {
  const asked = player.nextRead
  if (!asked) return
  const run = runAt(archive, asked)
  if (run.length > 0) player.put(asked, run)
  else player.endOfArchive(asked, archive.at(-1)!.height)
}

interface Told {
  readonly atMs: number
  readonly piece: ReplayItem<number>
}

/** Plays to the end or to where only more of the archive would help, a reading now and then late by `lateMs`. */
function play(player: Player<number>, archive: readonly Block[], beginMs: number, lateMs = 0): Told[] {
  const told: Told[] = []
  let nowMs = beginMs
  for (let idle = 0; idle < 3; ) {
    read(player, archive)
    const waitMs = player.waitMs(nowMs)
    if (waitMs === null) {
      idle++
      continue
    }
    nowMs += waitMs + (told.length % 5 === 4 ? lateMs : 0)
    const piece = player.take(nowMs)!
    told.push({ atMs: nowMs, piece })
    if (piece.kind === 'end' || piece.kind === 'live') return told
  }
  return told
}

/** What has to be told of a range, by looking at the whole archive at once. */
function expected(archive: readonly Block[], { from, to }: ReplayPlan): ReplayItem<number>[] {
  const isOver = ({ height, time }: Block) => to !== null && ('height' in to ? height > to.height : time > to.timeMs)
  const pieces: ReplayItem<number>[] = []
  let next = 'height' in from ? from.height : null
  let ends = to !== null && archive.some(isOver)
  for (const one of archive) {
    if ('height' in from ? one.height < from.height : one.time < from.timeMs) continue
    const last = isOver(one) && to !== null && 'height' in to ? to.height : one.height - 1
    if (next !== null && next <= last) pieces.push({ kind: 'gap', from: next, to: last })
    if (isOver(one)) break
    pieces.push({ kind: 'block', ...one })
    next = one.height + 1
    if (to !== null && 'height' in to && one.height === to.height) ends = true
  }
  if (ends) pieces.push({ kind: 'end' })
  if (to === null) pieces.push({ kind: 'live', from: next ?? archive.at(-1)!.height + 1 })
  return pieces
}

const placesIn = (archive: readonly Block[]) => {
  const first = archive[0]!
  const last = archive.at(-1)!
  return fc.oneof(
    fc.integer({ min: first.height, max: last.height }).map((height): ReplayPosition => ({ height })),
    fc.integer({ min: first.time - 10, max: last.time }).map((timeMs): ReplayPosition => ({ timeMs })),
  )
}

const plans = archives.chain((archive) =>
  fc.record({
    archive: fc.constant(archive),
    from: placesIn(archive),
    to: fc.option(placesIn(archive)),
    speed: fc.constantFrom(1, 2, 7, 300, Number.POSITIVE_INFINITY),
  }),
)

const pieces = (told: readonly Told[]) => told.map(({ piece }) => piece)

describe('a player', () => {
  it('replays each block of its range once and in order, with gaps, its end, and the start of live data', () => {
    fc.assert(
      fc.property(plans, fc.integer({ min: 0, max: 900 }), ({ archive, ...plan }, lateMs) => {
        expect(pieces(play(new Player(plan), archive, 7, lateMs))).toEqual(expected(archive, plan))
      }),
    )
  })

  it('replays a block at start + (t - t0) / speed, and restarts the schedule after a gap', () => {
    fc.assert(
      fc.property(plans, ({ archive, ...plan }) => {
        let start: { atMs: number; time: number } | null = null
        for (const { atMs, piece } of play(new Player(plan), archive, 7)) {
          if (piece.kind !== 'block') start = null
          else {
            start ??= { atMs, time: piece.time }
            expect(atMs).toBe(start.atMs + Math.ceil((piece.time - start.time) / plan.speed))
          }
        }
      }),
    )
  })

  it('is never early after a late read, and catches up with its schedule', () => {
    const archive = Array.from({ length: 20 }, (_, at) => block(FIRST + at, 1000 * at))
    const told = play(new Player({ from: { height: FIRST }, to: null, speed: 1 }), archive, 0, 2500)
    const lates = told.slice(0, -1).map(({ atMs, piece }) => atMs - (piece as Block).time)
    expect(Math.min(...lates)).toBe(0)
    expect(lates.slice(4, 8)).toEqual([2500, 1500, 500, 0])
  })

  it('continues after a seek like a replay that starts there', () => {
    const cases = plans.chain((one) =>
      fc.record({ one: fc.constant(one), place: placesIn(one.archive), after: fc.integer({ min: 0, max: 30 }) }),
    )
    fc.assert(
      fc.property(cases, fc.boolean(), ({ one: { archive, ...plan }, place, after }, isPaused) => {
        const player = new Player<number>(plan)
        for (let taken = 0, nowMs = 0; taken < after; taken++, nowMs += 50) {
          read(player, archive)
          player.take(nowMs)
        }
        if (isPaused) player.pause(2000)
        player.seek(place)
        if (isPaused) player.resume(5000)
        const begun = new Player<number>({ ...plan, from: place })
        expect(play(player, archive, 5000)).toEqual(play(begun, archive, 5000))
      }),
    )
  })

  it('replays nothing while it is paused, and excludes the pause from the schedule', () => {
    const archive = [0, 100, 200, 300].map((time, at) => block(FIRST + at, time))
    const player = new Player<number>({ from: { height: FIRST }, to: { height: FIRST + 3 }, speed: 1 })
    read(player, archive)
    expect([player.take(0), player.waitMs(0)]).toMatchObject([{ height: FIRST }, 100])
    player.pause(40)
    player.pause(60)
    expect([player.isPaused, player.waitMs(500), player.take(500)]).toEqual([true, null, null])
    player.resume(1040)
    player.resume(2000)
    expect([player.waitMs(1040), player.take(1099), player.take(1100)]).toMatchObject([60, null, { time: 100 }])
  })

  it('reads ahead at most its limit plus one read', () => {
    const player = new Player<number>({ from: { height: FIRST }, to: null, speed: 1 })
    const big = MAX_AHEAD_BYTES / 4
    let held = 0
    for (let height = FIRST; player.nextRead; height += 2, held += 2)
      player.put(player.nextRead, [block(height, height, big), block(height + 1, height + 1, big)])
    expect(held).toBe(4)
    player.take(0)
    expect(player.nextRead).toEqual({ height: FIRST + 4 })
  })

  it('ignores the result of an outdated read', () => {
    const player = new Player<number>({ from: { height: FIRST }, to: null, speed: 1 })
    const asked = player.nextRead!
    player.seek({ height: FIRST + 5 })
    player.put(asked, [block(FIRST, 1)])
    player.skip(asked, { first: FIRST, last: FIRST + 9 })
    player.endOfArchive(asked, FIRST + 9)
    expect([player.waitMs(0), player.nextRead]).toEqual([null, { height: FIRST + 5 }])
  })

  it('continues live only after replaying everything that is archived by then', () => {
    const player = new Player<number>({ from: { height: FIRST }, to: null, speed: 1 })
    player.put(player.nextRead!, [block(FIRST, 0), block(FIRST + 1, 50)])
    const asked = player.nextRead!
    player.take(0)
    player.endOfArchive(asked, FIRST + 1)
    expect(player.waitMs(0)).toBe(50)
    player.take(50)
    player.put(asked, [block(FIRST + 2, 60)])
    expect(player.take(60)).toMatchObject({ height: FIRST + 2 })
    player.pause(60)
    player.endOfArchive(player.nextRead!, FIRST + 2)
    player.resume(70)
    expect(player.waitMs(70)).toBeNull()
    player.endOfArchive(player.nextRead!, FIRST + 2)
    expect([player.take(70), player.nextRead]).toEqual([{ kind: 'live', from: FIRST + 3 }, null])
  })

  it('reports unreadable blocks as missing, up to its end', () => {
    const player = new Player<number>({ from: { height: FIRST }, to: { height: FIRST + 20 }, speed: 1 })
    player.skip(player.nextRead!, { first: FIRST, last: FIRST + 9 })
    player.put(player.nextRead!, [block(FIRST + 10, 5)])
    player.skip(player.nextRead!, { first: FIRST + 11, last: FIRST + 99 })
    const told = [0, 0, 0, 0].map((nowMs) => player.take(nowMs))
    expect(told).toMatchObject([
      { kind: 'gap', from: FIRST, to: FIRST + 9 },
      { kind: 'block', height: FIRST + 10 },
      { kind: 'gap', from: FIRST + 11, to: FIRST + 20 },
      { kind: 'end' },
    ])
    expect(player.nextRead).toBeNull()
  })
})

it('queues of all replays of an isolate are limited together, and a replay with an empty queue may read', () => {
  const readAhead = new ReadAhead()
  const BYTES = MAX_AHEAD_BYTES / 2
  const players = Array.from(
    { length: 40 },
    () => new Player<number>({ from: { height: 1 }, to: null, speed: 1 }, readAhead),
  )
  const fill = () => {
    for (const player of players) {
      const position = player.nextRead
      if (position && 'height' in position)
        player.put(position, [{ height: position.height, time: position.height, bytes: BYTES, block: 0 }])
    }
  }
  for (let round = 0; round < 4; round++) fill()
  // Each has one block, and none has a second one.
  expect(readAhead.bytes).toBe(40 * BYTES)
  expect(readAhead.bytes).toBeGreaterThan(MAX_ISOLATE_AHEAD_BYTES)
  for (const player of players.slice(0, 30)) player.end()
  expect(readAhead.bytes).toBe(10 * BYTES)
  expect(players.every(({ nextRead }) => nextRead !== null)).toBe(true)
})
