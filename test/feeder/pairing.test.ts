// Lines of several streams become blocks, gaps, duplicates, or the news that the node started over.

import { describe, expect, test } from 'vitest'
import { Pairing } from '../../src/feeder/pairing.ts'
import type { StreamLine, StreamName } from '../../src/feeder/streams.ts'

const line = (height: number, time = `t${String(height).padStart(6, '0')}`): StreamLine => ({
  height,
  time,
  text: `line ${height}`,
})
const pairing = (next: number, starts: Partial<Record<StreamName, number>> = { diffs: 0, fills: 0 }) =>
  new Pairing(next, null, new Map(Object.entries(starts) as [StreamName, number][]))

describe('pairing', () => {
  test('a block waits for every stream', () => {
    const p = pairing(5)
    p.push('diffs', line(5))
    expect(p.take()).toBeNull()
    expect(p.awaited).toEqual(['fills'])
    p.push('fills', line(5))
    expect(p.take()).toMatchObject({ kind: 'block', height: 5, time: 't000005' })
    expect(p.take()).toBeNull()
    expect(p.next).toBe(6)
  })

  test('a line missing in one stream is a gap once that stream went on, and keeps what the others have', () => {
    const p = pairing(5)
    for (const height of [5, 6, 7]) p.push('diffs', line(height))
    for (const height of [5, 7]) p.push('fills', line(height))
    expect(p.take()).toMatchObject({ kind: 'block', height: 5 })
    const gap = p.take()
    expect(gap).toMatchObject({ kind: 'gap', from: 6, to: 6, missing: ['fills'], time: 't000006' })
    expect(gap && 'found' in gap && [...gap.found.keys()]).toEqual(['diffs'])
    expect(p.take()).toMatchObject({ kind: 'block', height: 7 })
  })

  test('heights that all streams skip are one gap', () => {
    const p = pairing(5)
    for (const stream of ['diffs', 'fills'] as const) p.push(stream, line(9))
    expect(p.take()).toMatchObject({ kind: 'gap', from: 5, to: 8, missing: ['diffs', 'fills'] })
    expect(p.take()).toMatchObject({ kind: 'block', height: 9 })
  })

  test('a stream that began later is not expected before', () => {
    const p = pairing(5, { diffs: 0, misc: 7 })
    for (const height of [5, 6, 7]) p.push('diffs', line(height))
    p.push('misc', line(7))
    expect([p.take(), p.take(), p.take()].map((taken) => taken?.kind)).toEqual(['block', 'block', 'block'])
  })

  test('a repeated line is a duplicate, a later time at a passed height another chain', () => {
    const p = pairing(5)
    p.push('diffs', line(5))
    p.push('diffs', line(6))
    expect(p.push('diffs', line(6))).toBe('duplicate')
    expect(p.push('diffs', line(5))).toBe('duplicate')
    expect(p.push('diffs', line(2, 't999999'))).toBe('started_over')
  })

  test('nothing is taken for another chain while the time before is not known', () => {
    expect(pairing(5).push('diffs', line(4, 't999999'))).toBe('duplicate')
  })

  test('queues are counted and emptied', () => {
    const p = pairing(0)
    for (let height = 0; height < 5000; height++) p.push('diffs', line(height))
    expect(p.waitingUnits('diffs')).toBeGreaterThan(40_000)
    for (let height = 0; height < 5000; height++) p.push('fills', line(height))
    for (let height = 0; height < 5000; height++) expect(p.take()).toMatchObject({ height })
    expect(p.waitingUnits('diffs')).toBe(0)
  })
})
