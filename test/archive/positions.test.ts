// The law of the fold: the position after any fills equals that of a naive count, however the fills were summarized.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changeOf,
  changeOfRow,
  joinChanges,
  type PositionChange,
  type PositionRow,
  positionAfter,
  rowOf,
} from '../../src/archive/positions.ts'
import type { Fill } from '../../src/protocol/feed/block.ts'
import { fillWith } from '../kit/fills.ts'

const USER = `0x${'1'.repeat(40)}`
const wire = (tenths: number) => `${tenths < 0 ? '-' : ''}${Math.floor(Math.abs(tenths) / 10)}.${Math.abs(tenths) % 10}`

interface Step {
  readonly delta: number
  /** Change that no fill tells of. */
  readonly unseen: number
}
const steps = fc.array(
  fc.record({
    delta: fc.integer({ min: -3, max: 3 }).filter((delta) => delta !== 0),
    unseen: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -2, max: 2 })),
  }),
  { minLength: 1, maxLength: 20 },
)

/** Fills two a block, and what is known after them, counted in tenths. */
function lived(all: readonly Step[]) {
  let position = 0
  let known: { szi: number; height: number; broken: number | null } | null = null
  const fills = all.map(({ delta, unseen }, n): [Fill, number] => {
    const height = Math.floor(n / 2)
    const start = position + unseen
    const isBroken = start !== (known?.szi ?? 0)
    position = start + delta
    known = position === 0 ? null : { szi: position, height, broken: isBroken ? height : (known?.broken ?? null) }
    const side = delta > 0 ? 'B' : 'A'
    return [fillWith({ coin: 'BTC', side, sz: wire(Math.abs(delta)), startPosition: wire(start) }), height]
  })
  return { fills, known: known as { szi: number; height: number; broken: number | null } | null }
}

const stored = (change: PositionChange) =>
  changeOfRow(JSON.parse(JSON.stringify(rowOf(USER, change))) as PositionRow, change)

/** Joins neighbors in any order. */
function joinAnyhow(changes: readonly PositionChange[], picks: readonly number[]): PositionChange {
  const left = [...changes]
  for (let turn = 0; left.length > 1; turn++) {
    const at = (picks[turn % picks.length] ?? 0) % (left.length - 1)
    left.splice(at, 2, stored(joinChanges(left[at]!, left[at + 1]!)))
  }
  return left[0]!
}

describe('the position after fills', () => {
  it('is that of the last fill, with the last break since it was opened, however the fills are summarized', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(), { minLength: 1, maxLength: 20 }), (all, picks) => {
        const { fills, known } = lived(all)
        const changes = fills.map(([fill, height]) => changeOf(fill, { height, time: 100 + height })!)
        const { szi, height, start, at } = positionAfter(joinAnyhow(changes, picks))
        expect(start).toBeNull()
        if (known === null) expect([szi, at]).toEqual(['0.0', null])
        else expect([szi, height, at?.height ?? null]).toEqual([wire(known.szi), known.height, known.broken])
        if (at) expect(at.time).toBe(100 + at.height)
      }),
    )
  })

  it('is exact to 18 decimals, and unknown for spot and malformed amounts', () => {
    const at = { height: 1, time: 2 }
    const fill = fillWith({ coin: 'BTC', side: 'A', startPosition: '-0.1', sz: '0.000000000000000002' })
    expect(changeOf(fill, at)?.szi).toBe('-0.100000000000000002')
    for (const wrong of [
      { coin: '@107' },
      { coin: 'PURR/USDC' },
      { coin: '#40' },
      { sz: '-1' },
      { startPosition: 'x' },
    ])
      expect(changeOf({ ...fill, ...wrong }, at)).toBeNull()
  })
})
