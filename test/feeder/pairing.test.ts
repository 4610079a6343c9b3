// Lines of several streams are combined into blocks, gaps, duplicates, late lines, or a restart of the node.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Pairing } from '../../src/feeder/pairing.ts'
import type { StreamLine, StreamName } from '../../src/feeder/streams.ts'

/** Block time of a height: one millisecond per block. */
const timeOf = (height: number) => new Date(Date.UTC(2026, 4, 5) + height).toISOString().slice(0, 23)
const line = (height: number, time = timeOf(height)): StreamLine => ({ height, time, text: `line ${height}` })
const pairing = (next: number, streams: readonly StreamName[] = ['diffs', 'fills']) => new Pairing(next, null, streams)
const push = (p: Pairing, streams: readonly StreamName[], heights: readonly number[], nowMs = 0) =>
  heights.flatMap((height) => streams.map((stream) => p.push(stream, line(height), nowMs)))
const GATES = ['diffs', 'fills'] as const

describe('fills and diffs', () => {
  test('a block waits for both', () => {
    const p = pairing(5)
    push(p, ['diffs'], [5])
    expect(p.take()).toBeNull()
    expect(p.awaited).toEqual(['fills'])
    push(p, ['fills'], [5])
    expect(p.take()).toMatchObject({ kind: 'block', height: 5, time: timeOf(5) })
    expect(p.take()).toBeNull()
    expect(p.next).toBe(6)
  })

  test("a line missing from one stream is a gap once that stream has a later line, and the other stream's line is kept", () => {
    const p = pairing(5)
    push(p, ['diffs'], [5, 6, 7])
    push(p, ['fills'], [5, 7])
    expect(p.take()).toMatchObject({ kind: 'block', height: 5 })
    const gap = p.take()
    expect(gap).toMatchObject({ kind: 'gap', from: 6, to: 6, missing: ['fills'], time: timeOf(6) })
    expect(gap !== null && gap !== 'started_over' && 'found' in gap && [...gap.found.keys()]).toEqual(['diffs'])
    expect(p.take()).toMatchObject({ kind: 'block', height: 7 })
  })

  test('heights that both streams skip are one gap', () => {
    const p = pairing(5)
    push(p, GATES, [9])
    expect(p.take()).toMatchObject({ kind: 'gap', from: 5, to: 8, missing: ['diffs', 'fills'] })
    expect(p.take()).toMatchObject({ kind: 'block', height: 9 })
  })

  test('queues are counted and emptied', () => {
    const p = pairing(0)
    const heights = Array.from({ length: 5000 }, (_, height) => height)
    push(p, ['diffs'], heights)
    expect(p.waitingUnits('diffs')).toBeGreaterThan(40_000)
    push(p, ['fills'], heights)
    for (const height of heights) expect(p.take()).toMatchObject({ height })
    expect(p.waitingUnits('diffs')).toBe(0)
  })
})

describe('optional streams', () => {
  const read = ['diffs', 'fills', 'misc'] as const

  test('a line of a later height settles it immediately', () => {
    const p = pairing(5, read)
    push(p, GATES, [5, 6])
    push(p, ['misc'], [6])
    expect([p.take(), p.take()]).toMatchObject([
      { kind: 'block', height: 5 },
      { kind: 'block', height: 6 },
    ])
  })

  test('the end of the stream settles it a short time after the block was due', () => {
    const p = pairing(5, read)
    p.onEnd('misc', 0)
    push(p, ['diffs'], [5], 1_000)
    push(p, ['fills'], [5], 2_000)
    p.onEnd('misc', 2_040)
    expect(p.take()).toBeNull()
    p.onEnd('misc', 2_060)
    expect(p.take()).toMatchObject({ kind: 'block', height: 5 })
  })

  test('the block waits for a stream that was not read to its end', () => {
    const p = pairing(5, read)
    push(p, GATES, [5], 1_000)
    p.onEnd('misc', 900)
    expect(p.take()).toBeNull()
  })

  test('the block waits longer for a dense stream, but only once after the stream stops', () => {
    const p = pairing(0, read)
    const heights = Array.from({ length: 100 }, (_, height) => height)
    push(p, read, heights)
    for (const height of heights) expect(p.take()).toMatchObject({ kind: 'block', height })
    push(p, GATES, [100, 101], 1_000)
    p.onEnd('misc', 1_500)
    expect(p.take()).toBeNull()
    p.onEnd('misc', 1_900)
    expect([p.take(), p.take()]).toMatchObject([{ height: 100 }, { height: 101 }])
    push(p, GATES, [102], 3_000)
    p.onEnd('misc', 3_100)
    expect(p.take()).toMatchObject({ height: 102 })
  })

  test('the first block of an hour waits longer for the misc events, which contain the funding', () => {
    const p = pairing(5, read)
    push(p, ['diffs', 'fills', 'misc'], [5])
    p.take()
    for (const stream of GATES) p.push(stream, line(6, '2026-05-05T01:00:00.010'), 1_000)
    p.onEnd('misc', 3_900)
    expect(p.take()).toBeNull()
    p.onEnd('misc', 4_000)
    expect(p.take()).toMatchObject({ height: 6 })
    for (const stream of GATES) p.push(stream, line(7, '2026-05-05T02:00:00.010'), 5_000)
    p.onEnd('misc', 5_060)
    expect(p.take(), 'the stream said nothing for an hour').toMatchObject({ height: 7 })
  })

  test('a late line is sent with the next block and lengthens the wait', () => {
    const p = pairing(5, read)
    push(p, GATES, [5], 1_000)
    p.onEnd('misc', 1_060)
    expect(p.take()).toMatchObject({ height: 5 })
    expect(push(p, ['misc'], [5, 5])).toEqual(['late', 'duplicate'])
    expect(p.waitingUnits('misc'), 'nothing waits for the other streams').toBe(0)
    push(p, GATES, [6], 2_000)
    p.onEnd('misc', 2_060)
    expect(p.take()).toBeNull()
    p.onEnd('misc', 2_100)
    expect(p.take()).toMatchObject({ height: 6, late: [{ stream: 'misc', height: 5, text: 'line 5' }] })
  })

  test('any order of arrival gives the same blocks', () => {
    const has = fc.record({ misc: fc.boolean(), twaps: fc.boolean(), diffs: fc.integer({ min: 0, max: 9 }) })
    const life = fc.array(has, { minLength: 1, maxLength: 8 }).chain((blocks) => {
      const lines = { diffs: [], fills: [], misc: [], twaps: [] } as Record<string, StreamLine[]>
      for (const [height, { misc, twaps, diffs }] of blocks.entries()) {
        if (diffs > 0) lines.diffs!.push(line(height))
        lines.fills!.push(line(height))
        if (misc) lines.misc!.push(line(height))
        if (twaps) lines.twaps!.push(line(height))
      }
      lines.diffs!.push(line(blocks.length))
      lines.fills!.push(line(blocks.length))
      const order = Object.entries(lines).flatMap(([stream, all]) => all.map(() => stream as StreamName))
      return fc.record({
        blocks: fc.constant(blocks),
        lines: fc.constant(lines),
        order: fc.shuffledSubarray(order, { minLength: order.length }),
        takes: fc.array(fc.boolean(), { minLength: order.length, maxLength: order.length }),
      })
    })
    fc.assert(
      fc.property(life, ({ blocks, lines, order, takes }) => {
        const p = pairing(0, ['diffs', 'fills', 'misc', 'twaps'])
        const left = new Map(Object.entries(lines).map(([stream, all]) => [stream as StreamName, [...all]]))
        const said: string[] = []
        const takeAll = () => {
          for (let taken = p.take(); taken; taken = p.take())
            if (taken !== 'started_over')
              said.push(
                taken.kind === 'block'
                  ? `${taken.height} ${[...taken.lines.keys()].sort()}`
                  : `gap ${taken.from} ${taken.to} ${taken.missing}`,
              )
        }
        for (const [at, stream] of order.entries()) {
          expect(p.push(stream, left.get(stream)!.shift()!, at)).toBe('taken')
          for (const [name, rest] of left) if (rest.length === 0) p.onEnd(name, at + 1_000)
          if (takes[at]) takeAll()
        }
        takeAll()
        const truth = [...blocks, { misc: false, twaps: false, diffs: 1 }].map(({ misc, twaps, diffs }, height) =>
          diffs === 0
            ? `gap ${height} ${height} diffs`
            : `${height} ${['diffs', 'fills', ...(misc ? ['misc'] : []), ...(twaps ? ['twaps'] : [])]}`,
        )
        expect(said).toEqual(truth)
      }),
    )
  })
})

describe('extra streams', () => {
  const read = ['diffs', 'fills', 'oracle', 'writer'] as const

  test('delay a block only until they were read once more', () => {
    const p = pairing(5, read)
    push(p, GATES, [5], 1_000)
    push(p, ['oracle'], [5], 1_000)
    p.onEnd('writer', 999)
    expect(p.take()).toBeNull()
    p.onEnd('writer', 1_000)
    const taken = p.take()
    expect(taken).toMatchObject({ kind: 'block', height: 5 })
    expect(taken !== null && taken !== 'started_over' && 'lines' in taken && [...taken.lines.keys()]).toEqual([
      ...GATES,
      'oracle',
    ])
  })

  test('a late line is sent with the next block, and lengthens no wait', () => {
    const p = pairing(5, read)
    for (const height of [5, 6]) {
      push(p, GATES, [height], 1_000)
      for (const stream of ['oracle', 'writer'] as const) p.onEnd(stream, 1_000)
      const late = height === 5 ? [] : [{ stream: 'oracle', height: 5, text: 'line 5' }]
      expect(p.take()).toMatchObject({ kind: 'block', height, late })
      expect(push(p, ['oracle'], [height])).toEqual(['late'])
    }
  })

  test('invariant: whatever they contain, the blocks and gaps are those of the required streams', () => {
    const step = fc.record({
      stream: fc.constantFrom('oracle', 'writer'),
      height: fc.integer({ min: 0, max: 30 }),
      skewMs: fc.integer({ min: -20, max: 20 }),
    })
    const life = fc.array(fc.oneof(fc.constantFrom('diffs', 'fills', 'take'), step), { maxLength: 60 })
    const run = (
      steps: readonly (string | { stream: string; height: number; skewMs: number })[],
      hasExtras: boolean,
    ) => {
      const p = pairing(5, hasExtras ? read : GATES)
      const next = { diffs: 5, fills: 5 }
      return steps.flatMap((one, at) => {
        if (typeof one !== 'string') {
          const { stream, height, skewMs } = one
          if (hasExtras)
            expect(p.push(stream as StreamName, line(height, timeOf(height + skewMs)), at)).not.toBe('started_over')
          return []
        }
        if (one !== 'take') {
          const height = next[one as keyof typeof next]++
          // Every seventh height lacks one line.
          return height % 7 === 0 && one === 'diffs' ? [] : [p.push(one as StreamName, line(height), at)]
        }
        if (hasExtras) for (const stream of ['oracle', 'writer'] as const) p.onEnd(stream, at)
        const taken = p.take()
        if (taken === null || taken === 'started_over') return [taken]
        return [`${taken.kind === 'gap' ? `gap ${taken.from}` : taken.height} ${p.next} ${taken.time}`]
      })
    }
    fc.assert(
      fc.property(life, (steps) => {
        expect(run(steps, true)).toEqual(run(steps, false))
      }),
    )
  })
})

describe('passed heights', () => {
  test('are duplicates if a restarted node writes them again', () => {
    const p = pairing(5)
    push(p, GATES, [5, 6, 7])
    p.take()
    expect(push(p, GATES, [5, 6, 7])).toEqual(Array(6).fill('duplicate'))
    expect(push(p, GATES, [8])).toEqual(['taken', 'taken'])
    expect([p.take(), p.take(), p.take()]).toMatchObject([{ height: 6 }, { height: 7 }, { height: 8 }])
  })

  test('belong to a different chain if their time differs', () => {
    const p = pairing(5)
    push(p, GATES, [5, 6])
    p.take()
    p.take()
    expect(p.push('diffs', line(5, timeOf(4)), 0)).toBe('started_over')
    expect(p.push('diffs', line(5, timeOf(6)), 0)).toBe('started_over')
    expect(p.push('diffs', line(2, timeOf(99)), 0)).toBe('started_over')
  })

  test('prove nothing while no time is known', () => {
    expect(pairing(5).push('diffs', line(4, timeOf(99)), 0)).toBe('duplicate')
  })

  test('one height with two times is two chains in one folder', () => {
    const p = pairing(5)
    push(p, ['diffs'], [5])
    p.push('fills', line(5, timeOf(6)), 0)
    expect(p.take()).toBe('started_over')
  })
})
