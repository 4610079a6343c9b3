import { describe, expect, it } from 'vitest'
import { type Status, stateOf, statusLine } from '../../src/feeder/status.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'

const well = {
  linkError: null,
  isConnected: true,
  filesError: null,
  isRepositioning: false,
  snapshotError: null,
  isFull: false,
  isQuiet: false,
  awaited: [],
}
const refused = { state: 'refused by the gateway', why: 'the token' } as const

describe("the feeder's state", () => {
  it.each<[object, Status['state'], string | null]>([
    [{}, 'sending', null],
    [{ snapshotError: 'no snapshot' }, 'sending', 'no snapshot'],
    [{ linkError: refused, isConnected: false }, 'refused by the gateway', 'the token'],
    [{ linkError: refused, filesError: 'no files' }, 'refused by the gateway', 'the token; and no files'],
    [{ isConnected: false, isQuiet: true }, 'connecting', null],
    [{ isConnected: false, filesError: 'no files' }, 'connecting', 'no files'],
    [{ filesError: 'no files', isRepositioning: true, isQuiet: true }, 'waiting for files', 'no files'],
    [{ isRepositioning: true, isQuiet: true, snapshotError: 'no' }, 'finding its place', 'no'],
    [{ isFull: true, isQuiet: true }, 'waiting for acknowledgements', null],
    [{ isQuiet: true }, 'waiting for blocks', null],
    [{ isQuiet: true, awaited: ['fills', 'misc'] }, 'waiting for fills', null],
    [{ awaited: ['fills'] }, 'sending', null],
  ])('for %j is %s', (facts, state, why) => {
    expect(stateOf({ ...well, ...facts })).toEqual({ state, why })
  })
})

describe('the line for a terminal', () => {
  const status: Status = {
    state: 'sending',
    why: null,
    height: 7,
    lagMs: 30,
    blocksPerSecond: 14,
    ...ZERO_COUNTERS,
    lateExtraLines: 0,
    unacked: 2,
    reconnects: 1,
    booksKnown: true,
  }

  it('is short while everything is healthy', () => {
    expect(statusLine(status)).toBe(
      'sending · height 7 · lag 30 ms · 14 blocks/s · unacked 2 · reconnects 1 · misfits 0',
    )
  })

  it('does not let a gateway write to the terminal', () => {
    expect(statusLine({ ...status, why: 'no\x1b[2J\nheight 9' })).toMatch(/^sending: no\\u001b\[2J\\u000aheight 9 · /)
  })

  it('shows problems', () => {
    const bad = { ...status, state: 'waiting for files', why: 'none', height: null, lagMs: null } as const
    expect(
      statusLine({ ...bad, drifted: 1, gaps: 2, refusedEvents: 3, lateLines: 4, stallMs: 50, booksKnown: false }),
    ).toBe(
      'waiting for files: none · height - · lag - · 14 blocks/s · unacked 2 · reconnects 1 · misfits 0 · drifted 1 · gaps 2 · refused events 3 · late lines 4 · stalled 50 ms · books unknown',
    )
  })
})
