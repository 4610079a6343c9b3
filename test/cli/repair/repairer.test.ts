// Gaps and sources: who is asked, when, and what is recorded, against a gateway in memory.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ArchivedRange, GapState } from '../../../src/cli/backfill/window.ts'
import { dueRepairs, pauseMs, restMs } from '../../../src/cli/repair/repair-plan.ts'
import {
  type AttemptRecord,
  type RepairPorts,
  repairPass,
  type SourceResult,
} from '../../../src/cli/repair/repairer.ts'
import { err, ok } from '../../../src/core/result.ts'

const POLICY = { minAgeMs: 600_000, pace: 1 }
const MINUTE = 60_000
const END = 1_000

type Source = 'gone' | 'lying' | ReadonlySet<number>

/** A gateway with missing heights below END; every block is a second long. */
class World {
  readonly missing: Set<number>
  readonly asked: string[] = []
  readonly notes: string[] = []
  nowMs = 601_000
  #attempts: (AttemptRecord & { tries: number; at_ms: number })[] = []
  readonly #beyond = new Set<number>()
  readonly #sources: Readonly<Record<string, Source>>
  readonly #end: number

  constructor(missing: Iterable<number>, sources: Readonly<Record<string, Source>>, end = END) {
    this.missing = new Set(missing)
    this.#end = end
    this.#sources = sources
  }

  get gaps(): GapState[] {
    const runs: { from: number; to: number }[] = []
    for (const height of [...this.missing].sort((a, b) => a - b)) {
      const last = runs.at(-1)
      if (last?.to === height - 1) last.to = height
      else runs.push({ from: height, to: height })
    }
    return runs.map(({ from, to }) => ({
      from,
      to,
      after_ms: (from - 1) * 1_000,
      before_ms: (to + 1) * 1_000,
      recorded_ms: 1_000,
      beyond_ms: this.#beyond.has(from) ? this.nowMs : null,
      attempts: [
        ...new Map(
          this.#attempts.filter((one) => one.from <= from && one.to >= to).map((one) => [one.source, one]),
        ).values(),
      ],
    }))
  }

  ports(): RepairPorts {
    return {
      sources: Object.keys(this.#sources),
      readTarget: async () =>
        ok({
          chain: 'c',
          from: { height: 1, time: 1_000 },
          end: { height: this.#end, time: this.#end * 1_000 },
          gaps: this.gaps,
          nowMs: this.nowMs,
        }),
      importFrom: async (name, _, __, held) => ok(this.#import(name, held)),
      record: async (attempt) => {
        const before = this.#attempts.findLast(
          (one) => one.source === attempt.source && one.from <= attempt.from && one.to >= attempt.to,
        )
        this.#attempts = this.#attempts.filter((one) => one.source !== attempt.source || one.from !== attempt.from)
        this.#attempts.push({ ...attempt, tries: (before?.tries ?? 0) + 1, at_ms: this.nowMs })
        if (attempt.beyond_repair) this.#beyond.add(attempt.from)
        else this.#beyond.delete(attempt.from)
        return ok(null)
      },
      note: (message) => this.notes.push(message),
      isStopped: () => false,
    }
  }

  #import(name: string, held: ArchivedRange): SourceResult {
    this.asked.push(name)
    const source = this.#sources[name]!
    if (source === 'gone') return { kind: 'failed', message: 'no answer' }
    if (source === 'lying') return { kind: 'refused', message: 'contradicts the archive' }
    const found = [...this.missing].filter((height) => !held.has(height) && source.has(height))
    for (const height of found) this.missing.delete(height)
    const sums = { sent: found.length, blocks: found.length, segments: 1, bytes: 1, faults: 0 }
    return { kind: 'read', result: { ...sums, last: null, isStopped: false }, faults: [] }
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

describe('a repair', () => {
  it('asks the sources in order until nothing is missing', async () => {
    const world = new World([...range(10, 19), 30], {
      a: new Set(range(10, 14)),
      b: new Set(range(10, 30)),
      c: new Set(),
    })
    expect(await repairPass(world.ports(), POLICY)).toEqual(ok({ blocks: 11, open: 0, beyond: 0 }))
    // Both gaps at once.
    expect(world.asked).toEqual(['a', 'b'])
    expect(world.gaps).toEqual([])
  })

  it('asks a source for the gaps of an hour at once, and for each alone where it is refused', async () => {
    const far = 4_000
    const world = new World([10, 20, far], { lying: 'lying', a: new Set([10, 20, far]) }, far + 10)
    expect(await repairPass(world.ports(), POLICY)).toEqual(ok({ blocks: 3, open: 0, beyond: 0 }))
    expect(world.asked).toEqual(['lying', 'a', 'lying', 'lying', 'lying', 'a'])
  })

  it('leaves young gaps alone', async () => {
    const world = new World([10], { a: new Set([10]) })
    world.nowMs = 600_999
    expect(await repairPass(world.ports(), POLICY)).toEqual(ok({ blocks: 0, open: 1, beyond: 0 }))
    expect(world.asked).toEqual([])
  })

  it('asks again after growing delays, until no source is left', async () => {
    const world = new World([10, 11], { node: new Set([11]), bucket: 'lying' })
    const due: number[] = []
    for (let minute = 0; minute < 400; minute++) {
      const before = world.asked.length
      await repairPass(world.ports(), POLICY)
      if (world.asked.length > before) due.push(minute)
      world.nowMs += MINUTE
    }
    expect(due).toEqual([0, 10, 30, 70, 150])
    expect(world.gaps).toMatchObject([{ from: 10, to: 10, beyond_ms: expect.any(Number) }])
    expect(world.gaps[0]!.attempts.map(({ source, outcome, tries }) => [source, outcome, tries])).toEqual([
      ['node', 'absent', 5],
      ['bucket', 'refused', 5],
    ])
    expect(world.notes.at(-1)).toMatch(
      /^bucket did not fill the gap 10 to 10: contradicts the archive No source is left/,
    )
  })

  it('asks a source that was never asked, even after another program has given up', async () => {
    const world = new World([10, 11], { a: new Set(), b: new Set([11]) })
    for (let pass = 0; pass < 6; pass++) {
      await repairPass({ ...world.ports(), sources: ['a'] }, POLICY)
      world.nowMs += 400 * MINUTE
    }
    expect(world.gaps).toMatchObject([{ from: 10, beyond_ms: expect.any(Number) }])
    await repairPass({ ...world.ports(), sources: ['b'] }, POLICY)
    expect(world.gaps).toMatchObject([{ from: 10, to: 10 }])
  })

  it('counts the tries of every piece that is left of a gap', async () => {
    const source = new Set<number>()
    const world = new World(range(10, 14), { a: source })
    await repairPass(world.ports(), POLICY)
    world.nowMs += 10 * MINUTE
    await repairPass(world.ports(), POLICY)
    source.add(12)
    world.nowMs += 20 * MINUTE
    await repairPass(world.ports(), POLICY)
    expect(world.gaps.map(({ from, attempts }) => [from, attempts[0]?.tries])).toEqual([
      [10, 3],
      [13, 3],
    ])
  })

  it('is not given up by one program while another still asks its sources', async () => {
    const found = new Set<number>()
    const world = new World([10], { a: new Set(), b: found })
    const only = (source: string) => repairPass({ ...world.ports(), sources: [source] }, POLICY)
    for (let pass = 0; pass < 8; pass++) {
      // The source of the other program was asked later, and less often.
      if (pass > 4) await only('b')
      await only('a')
      world.nowMs += 400 * MINUTE
    }
    const attempts = expect.arrayContaining([expect.objectContaining({ source: 'b', tries: 3 })])
    expect(world.gaps).toMatchObject([{ beyond_ms: null, attempts }])
    found.add(10)
    await only('b')
    expect(world.gaps).toEqual([])
  })

  it('is given up without the sources of a program that no longer runs', async () => {
    const world = new World([10], { a: new Set(), b: 'gone' })
    await repairPass({ ...world.ports(), sources: ['b'] }, POLICY)
    for (let pass = 0; pass < 8; pass++) {
      await repairPass({ ...world.ports(), sources: ['a'] }, POLICY)
      world.nowMs += 400 * MINUTE
    }
    expect(world.gaps).toMatchObject([{ beyond_ms: expect.any(Number) }])
  })

  it('does not count an attempt that the end of the program interrupted', async () => {
    const world = new World([10, 11], { a: new Set([10]) })
    let isStopped = false
    const ports: RepairPorts = {
      ...world.ports(),
      isStopped: () => isStopped,
      importFrom: async (...rest) => {
        const imported = await world.ports().importFrom(...rest)
        isStopped = true
        if (!imported.ok || imported.value.kind !== 'read') return imported
        return ok({ ...imported.value, result: { ...imported.value.result, isStopped } })
      },
    }
    expect(await repairPass(ports, POLICY)).toEqual(ok({ blocks: 1, open: 1, beyond: 0 }))
    expect(world.gaps).toMatchObject([{ from: 11, attempts: [] }])
  })

  it('goes on if another program repairs a gap before the attempt is recorded', async () => {
    const world = new World([10, 20], { a: new Set() })
    const ports = world.ports()
    const record: RepairPorts['record'] = async (attempt) => {
      if (attempt.from !== 20) return ports.record(attempt)
      world.missing.delete(20)
      return err('heights 20 to 20 are not a gap')
    }
    expect(await repairPass({ ...ports, record }, POLICY)).toEqual(ok({ blocks: 0, open: 1, beyond: 0 }))
    expect(world.gaps).toMatchObject([{ from: 10, attempts: [{ tries: 1 }] }])
    const broken = { ...ports, record: async () => err('no answer') }
    world.nowMs += 10 * MINUTE
    expect(await repairPass(broken, POLICY)).toEqual(err('no answer'))
  })

  it('is tried again after the gateway’s clock was set back', async () => {
    const world = new World([10], { a: new Set() })
    world.nowMs = 10_000 * MINUTE
    await repairPass(world.ports(), POLICY)
    world.nowMs = 100 * MINUTE
    await repairPass(world.ports(), POLICY)
    await repairPass(world.ports(), POLICY)
    expect(world.asked).toEqual(['a', 'a'])
    expect(dueRepairs(world.gaps, ['b'], -1_000 * MINUTE, POLICY)).toHaveLength(1)
  })

  it('is never given up while a source cannot be read', async () => {
    const world = new World([10], { a: 'gone', b: new Set() })
    for (let hour = 0; hour < 100; hour++) {
      await repairPass(world.ports(), POLICY)
      world.nowMs += 60 * MINUTE
    }
    expect(world.gaps).toMatchObject([{ beyond_ms: null }])
    // At most every six hours in the end.
    expect(world.asked.filter((name) => name === 'a').length).toBeLessThan(25)
  })

  it('ends with exactly the heights that no source has, for any gaps and sources', async () => {
    const heights = fc.uniqueArray(fc.integer({ min: 2, max: 40 }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(heights, heights, heights, async (missing, a, b) => {
        const world = new World(missing, { a: new Set(a), b: new Set(b) })
        for (let pass = 0; pass < 6; pass++) {
          await repairPass(world.ports(), POLICY)
          world.nowMs += 400 * MINUTE
        }
        expect([...world.missing].sort()).toEqual(missing.filter((one) => !a.includes(one) && !b.includes(one)).sort())
        expect(world.gaps.every(({ beyond_ms }) => beyond_ms !== null)).toBe(true)
        expect(dueRepairs(world.gaps, ['a', 'b'], world.nowMs, POLICY)).toEqual([])
      }),
    )
  })
})

it('the pause after failed passes grows up to an hour', () => {
  expect([0, 1, 2, 9].map((failures) => pauseMs(30_000, failures))).toEqual([30_000, 60_000, 120_000, 3_600_000])
  expect(pauseMs(7_200_000, 3)).toBe(7_200_000)
})

it('the gateway imports for at most a third of the time', () => {
  expect([0, 300, 60_000].map(restMs)).toEqual([0, 600, 5_000])
})
