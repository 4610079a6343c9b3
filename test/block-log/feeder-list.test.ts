// The feeders listed in `/status`: connected ones, and those that left within a day.

import { describe, expect, it } from 'vitest'
import {
  afterRestart,
  asEnded,
  closeReason,
  departed,
  type FeederActivity,
  type FeederList,
  MAX_LISTED_FEEDERS,
  viewOf,
  withFeeder,
} from '../../src/block-log/feeder-list.ts'
import type { Pulse } from '../../src/protocol/feed/protocol.ts'

const state = { name: 'a', first: 1, head: 20, awaiting: null, conflict: null }
const said: Pulse = {
  type: 'pulse',
  now: 5_000,
  head: 30,
  time: 4_200,
  state: 'sending',
  unacked: 1,
  reconnects: 2,
  misfits: 3,
  drifted: 4,
  gaps: 5,
  refusedEvents: 6,
  stallMs: 7,
  stalls: 8,
  lateLines: 9,
}
const heard: FeederActivity = { sinceMs: 100, heardMs: 4_900, blockMs: 4_800, pulse: { atMs: 4_990, said } }
const view = viewOf(state, heard)

describe('a feeder', () => {
  // FEED-27
  it('is shown with its pulse, by both clocks', () => {
    expect(view).toEqual({
      name: 'a',
      connected: true,
      state: 'sending',
      conflict: null,
      sinceMs: 100,
      heardMs: 4_900,
      blockMs: 4_800,
      endedMs: null,
      why: null,
      head: 30,
      time: 4_200,
      lagMs: 800,
      clockMs: 10,
      counters: {
        unacked: 1,
        reconnects: 2,
        misfits: 3,
        drifted: 4,
        gaps: 5,
        refusedEvents: 6,
        lateLines: 9,
        stallMs: 7,
        stalls: 8,
      },
    })
    expect(viewOf({ ...state, head: 31 }, heard).head).toBe(31)
    const early = { ...said, head: null, time: null }
    const unread = viewOf({ ...state, head: null }, { ...heard, pulse: { atMs: 1, said: early } })
    expect(unread).toMatchObject({ head: null, time: null, lagMs: null })
  })

  it('before its first pulse is shown by its other frames', () => {
    expect(viewOf(state, { ...heard, pulse: null })).toMatchObject({
      head: 20,
      heardMs: 4_900,
      blockMs: 4_800,
      state: null,
      time: null,
      lagMs: null,
      clockMs: null,
      counters: null,
    })
  })
})

describe('the feeder list', () => {
  const DAY_MS = 24 * 3_600_000
  const gone = asEnded(view, 1_000, 'it broke')

  it('lists a departed feeder for a day, or until it is back', () => {
    expect(gone).toMatchObject({ connected: false, endedMs: 1_000, why: 'it broke', head: 30 })
    const roster = withFeeder([], gone)
    expect(departed(roster, [], 1_000 + DAY_MS - 1)).toEqual([gone])
    expect(departed(roster, [], 1_000 + DAY_MS)).toEqual([])
    expect(departed(roster, ['a'], 2_000)).toEqual([])
    expect(departed(withFeeder(roster, view), [], 2_000)).toEqual([])
  })

  it('has one entry per name, newest first, and is bounded', () => {
    let roster: FeederList = []
    for (let i = 0; i < MAX_LISTED_FEEDERS + 3; i++) roster = withFeeder(roster, { ...view, name: `f${i}` })
    roster = withFeeder(roster, { ...gone, name: 'f5' })
    expect(roster.map(({ name }) => name)).toEqual(['f5', 'f10', 'f9', 'f8', 'f7', 'f6', 'f4', 'f3'])
  })

  it('marks a feeder as ended that is no longer connected after a restart of the log', () => {
    const roster = [view, { ...view, name: 'b' }, { ...gone, name: 'c' }]
    const [a, b, c] = afterRestart(roster, ['b'], 7_000)
    expect(a).toMatchObject({ connected: false, endedMs: 7_000, why: expect.stringContaining('restarted') })
    expect([b, c]).toEqual([roster[1], roster[2]])
  })

  it('explains how a connection ended', () => {
    expect([1000, 1001].map(closeReason)).toEqual(Array(2).fill(expect.stringContaining('stopped')))
    expect([1005, 1006].map(closeReason)).toEqual(Array(2).fill(expect.stringContaining('killed')))
    expect([1012, 1011].map(closeReason)).toEqual([expect.stringContaining('reset'), expect.stringContaining('1011')])
  })
})
