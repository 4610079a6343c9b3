// The Archiver against a log that goes on, with every call failing now and then, before or after it had its effect, and
// the object beginning anew from what it saved.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ArchiveRunner,
  type ArchiveRunnerPorts,
  type ArchiveState,
  EMPTY_ARCHIVE_STATE,
} from '../../../src/archive/archive/archive-runner.ts'
import { toChunks } from '../../../src/core/chunks.ts'
import type { ArchivePage, ArchivePart } from '../../../src/protocol/feed/archive-api.ts'
import type { HubBooks } from '../../../src/protocol/hub/hub-api.ts'

const BLOCK_MS = 7_000
const PAGE_BLOCKS = 5
/** Before the archive has taken anything the log keeps so many. */
const WINDOW_BLOCKS = 30

interface Row {
  readonly first: number
  readonly last: number
  readonly text: string
}

/** A log of blocks, with heights that never came, of which readers get pages. */
class World {
  readonly missing: ReadonlySet<number>
  readonly segments = new Map<number, Row>()
  readonly gaps = new Map<number, number>()
  readonly checkpoints = new Map<number, string>()
  /** Heights that the log has let go before they were asked for. */
  readonly gone = new Set<number>()
  head = 0
  repairedAt: number | null = null
  state: ArchiveState = EMPTY_ARCHIVE_STATE
  /** What was told of as archived. */
  told = -1
  readonly #fails: () => 'before' | 'after' | null

  constructor(missing: readonly number[], fails: () => 'before' | 'after' | null = () => null) {
    this.missing = new Set(missing)
    this.#fails = fails
  }

  async #port<T>(effect: () => T): Promise<T> {
    const fails = this.#fails()
    if (fails === 'before') throw new Error('it did not come there')
    const done = effect()
    if (fails === 'after') throw new Error('its answer did not come')
    return done
  }

  get ports(): ArchiveRunnerPorts {
    return {
      page: (from, { last }) =>
        this.#port(() => {
          this.told = last?.height ?? -1
          return this.#page(from)
        }),
      putSegment: ({ first, last, events, books }) =>
        this.#port(() => {
          const text = [...events, ...books].join()
          const there = this.segments.get(first)
          // One name has one content.
          if (there?.last === last) expect(text).toBe(there.text)
          this.segments.set(first, { first, last, text })
          return 1
        }),
      putGap: ({ from, to }) => this.#port(() => void this.gaps.set(from, to)),
      putCheckpoint: ({ height, epoch }) =>
        this.#port(() => {
          this.checkpoints.set(height, epoch)
          return 1
        }),
      hubs: 2,
      hubBooks: (hub) => this.#port(() => this.#books(hub)),
      trim: async () => null,
      lastBlock: () =>
        this.#port(() => {
          const last = [...this.segments.values()].at(-1)
          return last ? { height: last.last, time: last.last * BLOCK_MS } : null
        }),
      save: (state) => {
        this.state = state
      },
    }
  }

  #books(hub: number): HubBooks {
    const coin = `C${hub}`
    const books = [{ coin, height: this.head, seq: 1, levels: '[[],[]]' }]
    return { v: 1, epoch: 'a', time: this.head * BLOCK_MS, books, left: 0, next: null }
  }

  #page(from: number | null): ArchivePage {
    const oldest = this.told < 0 ? this.head - WINDOW_BLOCKS : 0
    const parts: ArchivePart[] = []
    for (let height = from ?? this.head + 1; height <= this.head && parts.length < PAGE_BLOCKS; height++) {
      if (height < oldest) this.gone.add(height)
      if (height < oldest || this.missing.has(height)) parts.push({ gap: { from: height, to: height } })
      else parts.push(stored(height))
    }
    const head = { height: this.head, time: this.head * BLOCK_MS }
    return { v: 1, head, epoch: 'a', repairedAt: this.repairedAt, parts }
  }

  /** An object begins anew. */
  async round(): Promise<number | null | undefined> {
    const archiving = new ArchiveRunner(this.ports, this.state)
    return archiving.round().catch(() => undefined)
  }
}

function stored(height: number): ArchivePart {
  const time = height * BLOCK_MS
  const books = `{"v":1,"t":"block","epoch":"a","height":${height},"time":${time},"px":{},"books":[]}`
  return { first: height, last: height, books: toChunks(books), events: toChunks(`{"height":${height}}`) }
}

/** Every height that is covered, in order; throws nothing and hides nothing. */
function covered({ segments, gaps }: World): number[] {
  const spans = [...[...segments.values()].map(({ first, last }) => [first, last]), ...gaps] as [number, number][]
  return spans
    .sort(([a], [b]) => a - b)
    .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
}

describe('a round', () => {
  it('writes complete segments, reports them to the log, and returns the delay until the open segment can be complete', async () => {
    const world = new World([])
    world.head = 20
    const archiving = new ArchiveRunner(world.ports, world.state)
    const nextMs = await archiving.round()
    // Minutes end behind blocks 8 and 17.
    expect(covered(world)).toEqual(Array.from({ length: 18 }, (_, height) => height))
    expect(nextMs).toBeGreaterThan(0)
    await archiving.round()
    expect(world.told).toBe(17)
    expect(archiving.state).toMatchObject({ last: { height: 17, time: 17 * BLOCK_MS }, segments: 2 })
  })

  it('is not scheduled again while no block arrives', async () => {
    const world = new World([])
    world.head = 20
    const archiving = new ArchiveRunner(world.ports, world.state)
    for (let i = 0; i < 3; i++) await archiving.round()
    expect(await archiving.round()).toBeNull()
  })

  it('writes all books per interval and epoch once their blocks are durable, and after repairs', async () => {
    const world = new World([])
    world.head = 20
    const archiving = new ArchiveRunner(world.ports, world.state)
    await archiving.round()
    expect(world.checkpoints.size).toBe(0)
    await archiving.round()
    expect([...world.checkpoints]).toEqual([[20, 'a']])
    world.head = 40
    for (let i = 0; i < 3; i++) await archiving.round()
    expect(world.checkpoints.size).toBe(1)
    world.repairedAt = 39
    for (let i = 0; i < 3; i++) await archiving.round()
    expect([...world.checkpoints.keys()]).toEqual([20, 40])
    world.head = Math.ceil(3_600_000 / BLOCK_MS) + 5
    world.repairedAt = null
    for (let i = 0; i < 60; i++) await archiving.round()
    expect([...world.checkpoints.keys()]).toEqual([20, 40, world.head])
  })
})

it('after a failure at any step, no height is missing or repeated, and only archived heights are reported', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 10 }),
      fc.array(fc.constantFrom('before' as const, 'after' as const, null, null, null, null), {
        minLength: 1,
        maxLength: 60,
      }),
      async (missing, failures) => {
        let at = 0
        let isCalm = false
        const world = new World(missing, () => (isCalm ? null : (failures[at++ % (failures.length + 7)] ?? null)))
        for (let head = 0; head < 70; head++) {
          world.head = head
          await world.round()
          const done = covered(world)
          const [first = 0] = done
          expect(done).toEqual(Array.from({ length: done.length }, (_, i) => first + i))
          expect(world.told).toBeLessThanOrEqual(done.at(-1) ?? -1)
        }
        isCalm = true
        for (let i = 0; i < 20; i++) await world.round()
        expect(covered(world).at(-1)).toBeGreaterThan(55)
        for (const [from, to] of world.gaps)
          for (let height = from; height <= to; height++)
            expect(world.missing.has(height) || world.gone.has(height)).toBe(true)
      },
    ),
  )
})
