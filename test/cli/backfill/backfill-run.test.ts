// Runs against a model of the gateway that cuts as the real one does: whatever fails or stops amid, the same command goes on,
// and in the end each block is there once.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { backfillCuts, gapsBetween, type SegmentSpan } from '../../../src/archive/archive/backfill-queue.ts'
import { type BackfillPorts, BackfillRun } from '../../../src/cli/backfill/backfill-run.ts'
import type { PlannedFile } from '../../../src/cli/backfill/source-files.ts'
import type { Window } from '../../../src/cli/backfill/window.ts'
import { ArchivedRange } from '../../../src/cli/backfill/window.ts'
import { readBackfill } from '../../kit/at-once.ts'

const HOUR_MS = 3_600_000
/** Blocks are so long. */
const STEP_MS = 300_000
const BEFORE = { height: 200, time: 200 * STEP_MS }

const lineOf = (height: number) => {
  const at = new Date(height * STEP_MS).toISOString().slice(0, -1)
  return JSON.stringify({ local_time: at, block_time: at, block_number: height, events: [] })
}

/** Hourly files of these heights, each block a little late. */
function filesOf(heights: readonly number[]): PlannedFile[] {
  const hours = Map.groupBy(heights, (height) => Math.floor((height * STEP_MS + 400) / HOUR_MS))
  return [...hours].map(([hour, all]) => ({
    path: `node_fills_by_block/${hour}`,
    bytes: 0,
    form: { kind: 'node' as const, stream: null, fromMs: hour * HOUR_MS },
    open: async function* () {
      for (const height of all) yield new TextEncoder().encode(`${lineOf(height)}\n`)
    },
  }))
}

class World {
  readonly segments: (SegmentSpan & { readonly events: readonly string[] })[] = []
  opened: string[] = []
  #left: number

  /** So many calls end well; then the gateway is gone. */
  constructor(calls = Number.POSITIVE_INFINITY) {
    this.#left = calls
  }

  revive(calls = Number.POSITIVE_INFINITY): this {
    this.#left = calls
    this.opened = []
    return this
  }

  get heights(): number[] {
    return this.segments.flatMap(({ events }) => events.map((line) => JSON.parse(line).height as number))
  }

  get held(): ArchivedRange {
    const own = { first: BEFORE.height, last: BEFORE.height, firstMs: BEFORE.time, lastMs: BEFORE.time }
    const all = [...this.segments, own].toSorted((a, b) => a.first - b.first)
    const gaps = gapsBetween(all).map(({ from, to, afterMs, beforeMs }) => {
      return { from, to, after_ms: afterMs, before_ms: beforeMs }
    })
    return new ArchivedRange({ height: all[0]!.first, time: all[0]!.firstMs }, BEFORE, gaps)
  }

  async run(window: Window, heights: readonly number[], isStopped = () => false) {
    const ports: BackfillPorts = {
      complete: async (block) => ({ ok: true, value: block }),
      send: async (body) => {
        if (this.#left-- <= 0) return { ok: false, error: 'gone' }
        const blocks = readBackfill(body.map(({ line }) => line).join('\n'))
        if (!blocks.ok) throw new Error(JSON.stringify(blocks.error))
        const cuts = backfillCuts(blocks.value, this.segments, BEFORE.height)
        const taken = cuts.slice(0, 3)
        this.segments.push(...taken)
        const count = taken.reduce((sum, { events }) => sum + events.length, 0)
        return { ok: true, value: { blocks: count, segments: taken.length, bytes: 1, next: cuts[3]?.first ?? null } }
      },
      note: (sentence) => expect.fail(sentence),
      progress: (share) => expect(share).toBeLessThanOrEqual(1),
      isStopped,
    }
    const files = filesOf(heights).map((file) => ({
      ...file,
      open: () => {
        this.opened.push(file.path)
        return file.open()
      },
    }))
    return new BackfillRun(window, this.held, ports).run(files)
  }
}

const some = fc.uniqueArray(fc.integer({ min: 0, max: 220 })).map((heights) => heights.toSorted((a, b) => a - b))

it('every requested block of the source is archived once, whatever failed earlier', async () => {
  const windows = fc.tuple(fc.integer({ min: 0, max: 210 }), fc.integer({ min: 0, max: 210 }), fc.boolean())
  await fc.assert(
    fc.asyncProperty(some, windows, fc.array(fc.integer({ min: 0, max: 4 })), async (heights, edges, failures) => {
      const [a, b, isOfTimes] = edges
      const low = Math.min(a, b)
      const high = Math.max(a, b)
      const window: Window = isOfTimes
        ? { from: { timeMs: low * STEP_MS }, to: { timeMs: high * STEP_MS } }
        : { from: { height: low }, to: { height: high } }
      const world = new World(0)
      for (const calls of failures) await world.revive(calls).run(window, heights)
      expect(await world.revive().run(window, heights)).toMatchObject({ ok: true })
      const wanted = heights.filter((height) => height >= low && height <= high && height < BEFORE.height)
      expect(world.heights.toSorted((x, y) => x - y)).toEqual(wanted)
      const again = await world.revive(0).run(window, heights)
      expect(again).toMatchObject({ ok: true, value: { sent: 0, blocks: 0 } })
    }),
  )
})

it('archived hours are not read again', async () => {
  const world = new World()
  const all = Array.from({ length: 100 }, (_, at) => at + 50)
  const window = { from: { height: 0 }, to: { height: 199 } }
  await world.run(window, all)
  await world.revive().run(window, all)
  // The first and the last, whose ends nobody knows.
  expect(world.opened.length).toBeLessThanOrEqual(4)
})

it('a stopped run sends what it has read, and the next run sends the rest', async () => {
  const world = new World()
  const all = Array.from({ length: 60 }, (_, at) => at)
  const window = { from: { timeMs: 0 }, to: { timeMs: BEFORE.time } }
  let reads = 0
  const first = await world.run(window, all, () => ++reads > 30)
  expect(first).toMatchObject({ ok: true, value: { isStopped: true } })
  expect(world.heights.length).toBeGreaterThan(5)
  expect(world.heights.length).toBeLessThan(60)
  const there = world.heights.length
  expect(await world.run(window, all)).toMatchObject({ ok: true, value: { blocks: 60 - there } })
})

it('blocks that a restarted node wrote again are sent once', async () => {
  const world = new World()
  expect(await world.run({ from: { height: 0 }, to: { height: 9 } }, [0, 1, 2, 3, 1, 2, 3, 4])).toMatchObject({
    ok: true,
  })
  expect(world.heights).toEqual([0, 1, 2, 3, 4])
})
