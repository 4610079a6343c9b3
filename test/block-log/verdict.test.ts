// Which component the diagnosis names as the cause, given the state of all feeders.

import { describe, expect, it } from 'vitest'
import { SILENT_MS, STALLED_MS, verdict } from '../../src/block-log/verdict.ts'
import { FEED_STATES, type FeederView } from '../../src/protocol/feed/status-shape.ts'
import { ZERO_COUNTERS } from '../kit/counters.ts'

const NOW = 1_000_000_000
const LONG_AGO = NOW - 3_600_000
const place = { height: 10, time: NOW - 50, blockMs: NOW - 20, booksKnown: true }
const still = { ...place, blockMs: NOW - STALLED_MS, time: NOW - STALLED_MS }
const feeder: FeederView = {
  name: 'a',
  connected: true,
  state: 'sending',
  conflict: null,
  sinceMs: LONG_AGO,
  heardMs: NOW - 20,
  blockMs: NOW - 20,
  head: 10,
  time: NOW - 50,
  lagMs: 30,
  clockMs: 0,
  endedMs: null,
  why: null,
  counters: ZERO_COUNTERS,
}
const quiet: FeederView = { ...feeder, heardMs: NOW - SILENT_MS }
const gone: FeederView = { ...feeder, connected: false, endedMs: NOW - 5_000, why: 'it broke' }
const refused: FeederView = { ...feeder, conflict: 'the node started over' }
const old: FeederView = { ...quiet, state: null, counters: null }

const CASES: readonly (readonly [what: string, (typeof FEED_STATES)[number], object, FeederView[], RegExp])[] = [
  ['blocks come', 'live', place, [feeder], /^Blocks arrive and/],
  ['one of two is silent', 'live', place, [quiet, feeder], /^Blocks arrive and/],
  ['blocks come that are old', 'late', { ...place, time: NOW - 12_000 }, [feeder], /12 s late/],
  ['books are lost', 'books_unknown', { ...place, booksKnown: false }, [feeder], /--info/],
  ['the log is empty', 'starting', { ...still, height: null, blockMs: null }, [feeder], /"a".*: sending/],
  ['it has just come', 'starting', { ...still, blockMs: null }, [{ ...feeder, sinceMs: NOW - 1 }], /"a"/],
  ['it waits for the node’s books', 'starting', still, [{ ...feeder, state: 'finding its place', head: 99 }], /place/],
  ['it waits', 'node_still', still, [{ ...feeder, state: 'waiting for blocks' }], /"a".*waiting for blocks.*node/],
  ['the log woke', 'node_still', { ...still, blockMs: null }, [feeder], / its node /],
  ['of two, one waits and one is silent', 'node_still', still, [quiet, feeder], / its node /],
  ['its node is behind', 'node_still', still, [{ ...feeder, head: 9 }], / 9.* 10.*feed reset/],
  ['it has read on', 'feeder_stuck', still, [{ ...feeder, head: 11 }], / 11.* 10/],
  ['nothing is heard', 'feeder_silent', still, [quiet], /1970.*host/],
  ['nothing is heard of one without pulses', 'feeder_silent', still, [old], /node/],
  ['it is refused', 'conflict', still, [refused], /"a".*: the node started over/],
  ['it was refused and left', 'conflict', still, [{ ...gone, conflict: 'no' }], /"a".*: no$/],
  ['the refused one is heard, the other silent', 'feeder_silent', still, [refused, quiet], /host/],
  ['it left', 'link_down', place, [gone], /"a" ended at 1970-.*\(it broke\)/],
  ['two left', 'link_down', still, [gone, { ...gone, name: 'b', endedMs: NOW }], /"b" ended/],
  ['too much waits for the archive', 'archive_full', { ...place, isFull: true }, [feeder], /R2 or D1/],
  ['none was there', 'no_feeder', still, [], /npx weir feed/],
]

describe('the feed', () => {
  it.each(CASES)('%s: %s', (_, state, log, feeders, advice) => {
    const result = verdict(log as typeof place, feeders, NOW)
    expect(result).toEqual({ state, advice: expect.stringMatching(advice) })
  })

  it('has a case for every state', () => {
    expect(new Set(CASES.map(([, state]) => state))).toEqual(new Set(FEED_STATES))
  })
})
