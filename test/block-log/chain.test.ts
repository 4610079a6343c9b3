import { describe, expect, it } from 'vitest'
import {
  conflictAtHello,
  EMPTY_CHAIN,
  type FeederState,
  gapAfterGone,
  judgeBlock,
  judgeSnapshot,
  LAG_BLOCKS,
} from '../../src/block-log/chain.ts'

const chain = { epoch: 'e', height: 10, booksKnown: true }
const feeder: FeederState = { name: 'f', first: 1, head: 20, awaiting: null, conflict: null }

describe('a block', () => {
  // FEED-7
  it('is accepted if it is next or the first, acknowledged if already accepted, and requested again after a gap', () => {
    expect(judgeBlock(EMPTY_CHAIN, feeder, { height: 7 })).toEqual({ do: 'take' })
    expect(judgeBlock(chain, feeder, { height: 11 })).toEqual({ do: 'take' })
    expect(judgeBlock(chain, feeder, { height: 10 })).toEqual({ do: 'acknowledge' })
    expect(judgeBlock(chain, feeder, { height: 12 })).toEqual({ do: 'resend', from: 11 })
  })

  // FEED-9
  it('is ignored while a resend is outstanding, and from a feeder in conflict', () => {
    expect(judgeBlock(chain, { ...feeder, awaiting: 11 }, { height: 12 })).toEqual({ do: 'ignore' })
    expect(judgeBlock(chain, { ...feeder, awaiting: 11 }, { height: 11 })).toEqual({ do: 'take' })
    expect(judgeBlock(chain, { ...feeder, awaiting: 12 }, { height: 13 })).toEqual({ do: 'resend', from: 11 })
    expect(judgeBlock(chain, { ...feeder, conflict: 'x' }, { height: 11 })).toEqual({ do: 'ignore' })
  })
})

describe('a snapshot', () => {
  // FEED-17
  it('of all coins seeds a log that is at its height, or an empty log', () => {
    expect(judgeSnapshot(chain, feeder, [], { scope: 'all', height: 10 })).toEqual({ do: 'seed', gap: null })
    expect(judgeSnapshot(EMPTY_CHAIN, feeder, [], { scope: 'all', height: 500 })).toEqual({ do: 'seed', gap: null })
  })

  // FEED-17
  it('ahead of the log is a gap only if no feeder has the blocks in between', () => {
    expect(judgeSnapshot(chain, feeder, [], { scope: 'all', height: 15 })).toEqual({ do: 'resend', from: 11 })
    const late = { ...feeder, first: 15 }
    expect(judgeSnapshot(chain, late, [feeder], { scope: 'all', height: 15 })).toEqual({ do: 'resend', from: 11 })
    expect(judgeSnapshot(chain, late, [], { scope: 'all', height: 15 })).toEqual({
      do: 'seed',
      gap: { from: 11, to: 15 },
    })
  })

  it('ahead of the log is no gap if a feeder without conflict has the missing block', () => {
    const judged = (other: object) =>
      judgeSnapshot(chain, { ...feeder, first: 15 }, [{ ...feeder, ...other }], { scope: 'all', height: 15 }).do
    expect([{ first: 11 }, { first: 12 }, { first: null }, { conflict: 'x' }].map(judged)).toEqual([
      'resend',
      ...['seed', 'seed', 'seed'],
    ])
  })

  it('behind the log is refused, and one of a feeder in conflict is ignored', () => {
    const refusal = { do: 'refuse', field: 'height', message: expect.any(String) }
    expect(judgeSnapshot(chain, feeder, [], { scope: 'all', height: 9 })).toEqual(refusal)
    const other = { ...feeder, conflict: 'x' }
    expect(judgeSnapshot(chain, other, [], { scope: 'all', height: 10 })).toEqual({ do: 'ignore' })
  })

  // FEED-18
  it('of some coins repairs only the last height', () => {
    expect(judgeSnapshot(chain, feeder, [], { scope: 'coins', height: 10 })).toEqual({ do: 'repair' })
    expect(judgeSnapshot(chain, feeder, [], { scope: 'coins', height: 9 })).toMatchObject({
      do: 'refuse',
      field: 'height',
    })
    const unknown = { ...chain, booksKnown: false }
    expect(judgeSnapshot(unknown, feeder, [], { scope: 'coins', height: 10 })).toMatchObject({ do: 'refuse' })
  })
})

describe('a node', () => {
  // FEED-21
  it('that lags may continue; one that started over is refused with a message', () => {
    expect(conflictAtHello({ ...chain, height: 100_000 }, 100_000 - LAG_BLOCKS)).toBeNull()
    expect(conflictAtHello({ ...chain, height: 100_000 }, 12)).toContain('height 12')
    expect(conflictAtHello(EMPTY_CHAIN, 12)).toBeNull()
    expect(conflictAtHello({ ...chain, height: 100_000 }, null)).toBeNull()
  })

  // FEED-11
  it('without the files that follow leaves a gap, unless another feeder has them', () => {
    expect(gapAfterGone(chain, [], 14)).toEqual({ from: 11, to: 13 })
    expect(gapAfterGone(chain, [feeder], 14)).toBeNull()
    expect(gapAfterGone(chain, [], 11)).toBeNull()
    expect(gapAfterGone(EMPTY_CHAIN, [], 14)).toBeNull()
  })
})
