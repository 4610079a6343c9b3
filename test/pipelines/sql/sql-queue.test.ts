// Whose SQL runs next, and who waits.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SqlCaller, SqlWait } from '../../../src/pipelines/sql/sql-api.ts'
import { SqlQueue, type Strikes } from '../../../src/pipelines/sql/sql-queue.ts'

const of = (account: string, pipeline = `pipe_${account}`, kind: SqlCaller['kind'] = 'batch') => ({
  account,
  pipeline,
  kind,
})
const opened = () => {
  const strikes = new Map<string, Strikes>()
  const turns = new SqlQueue({
    get: (pipeline) => strikes.get(pipeline) ?? null,
    put: (pipeline, own) => void strikes.set(pipeline, own),
    delete: (pipeline) => void strikes.delete(pipeline),
  })
  const told: [account: string, refused: SqlWait | null][] = []
  const enter = (caller: SqlCaller, nowMs: number) => {
    turns.enqueue(caller, (refused) => void told.push([caller.account, refused]), nowMs)
    return told.at(-1)?.[1] ?? null
  }
  return { turns, told, enter, strikes }
}
const words = (pattern: RegExp) => ({ waitMs: expect.any(Number), words: expect.stringMatching(pattern) })

// PIPE-18
it('the account that has used the least CPU time goes first; on a tie, the earliest', () => {
  const { turns, told, enter } = opened()
  turns.onEnd(of('greedy'), 3_000, false, 0)
  for (const account of ['greedy', 'greedy', 'small', 'other']) enter(of(account), 0)
  while (turns.startNext(1));
  expect(told).toEqual([
    ['small', null],
    ['other', null],
    ['greedy', null],
    ['greedy', null],
  ])
})

// PIPE-18
it('an account that has used up its CPU time waits for a refill, even if it was already queued', () => {
  const { turns, told, enter } = opened()
  enter(of('a'), 0)
  enter(of('a'), 0)
  expect(turns.startNext(0)).toBe(true)
  turns.onEnd(of('a'), 7_000, false, 0)
  expect(turns.startNext(0)).toBe(false)
  expect(told[1]).toEqual(['a', { waitMs: 20_010, words: expect.stringMatching(/have used their CPU time/) }])
  expect(turns.acquireSlot('a', 19_000)).toEqual(words(/CPU time/))
  expect(enter(of('a'), 20_009)).toEqual(words(/CPU time/))
  expect(turns.acquireSlot('a', 20_010)).toBeNull()
  expect(turns.startNext(20_010)).toBe(false)
  enter(of('a'), 20_010)
  expect(turns.startNext(20_010)).toBe(true)
})

// PIPE-18
it('a pipeline that exceeds its limits waits twice as long each time, at most ten minutes, until a run succeeds', () => {
  const { turns, enter, strikes } = opened()
  const waits: number[] = []
  let nowMs = 0
  for (let run = 0; run < 9; run++) {
    turns.onStart(of('a'), nowMs)
    turns.onEnd(of('a'), 1, true, nowMs)
    waits.push(enter(of('a'), nowMs)!.waitMs)
    expect(enter(of('a'), nowMs)).toEqual(words(/exceeded/))
    // Another pipeline of the account does not.
    expect(turns.startNext(nowMs)).toBe(false)
    nowMs = strikes.get('pipe_a')!.untilMs
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600].map((seconds) => seconds * 1_000))
  // It ended with the isolate: begun, and never over.
  turns.onStart(of('a'), nowMs)
  expect(enter(of('a'), nowMs)).toEqual(words(/last 10 runs/))
  turns.onEnd(of('a'), 1, false, nowMs)
  expect(strikes.size).toBe(0)
})

// PIPE-18
it('a run known to be quick stores no strike first, and gets one if it exceeds its limits', () => {
  const { turns, enter, strikes } = opened()
  expect(turns.onStart(of('a'), 0)).toBe(true)
  turns.onEnd(of('a'), 499, false, 0)
  expect(turns.onStart(of('a'), 0)).toBe(false)
  turns.onEnd(of('a'), 499, true, 0)
  expect(enter(of('a'), 0)).toEqual(words(/last run of these/))
  // A check takes it from nobody.
  expect(turns.onStart(of('a', 'pipe_a', 'check'), 0)).toBe(false)
  turns.onEnd(of('a', 'pipe_a', 'check'), 1, false, 0)
  expect(strikes.get('pipe_a')).toEqual({ count: 1, untilMs: 10_000 })
  expect(turns.onStart(of('a'), 10_000)).toBe(true)
  turns.onEnd(of('a'), 500, false, 10_000)
  expect(turns.onStart(of('a'), 10_000)).toBe(true)
})

// PIPE-18
it('an account runs one test at a time, and all accounts four; the slot of a lost caller expires', () => {
  const { turns } = opened()
  expect(turns.acquireSlot('a', 0)).toBeNull()
  expect(turns.acquireSlot('a', 0)).toEqual(words(/test or check of this account/))
  for (const account of ['b', 'c', 'd']) expect(turns.acquireSlot(account, 0)).toBeNull()
  expect(turns.acquireSlot('e', 0)).toEqual(words(/Too many tests/))
  turns.releaseSlot('b')
  expect(turns.acquireSlot('e', 0)).toBeNull()
  expect(turns.acquireSlot('a', 70_000)).toBeNull()
})

it('the queue is bounded, and no caller waits forever', () => {
  const { turns, told, enter } = opened()
  for (let at = 0; at < 9; at++) enter(of('a'), 0)
  expect(told).toEqual([['a', words(/waiting for its turn/)]])
  for (let at = 0; at < 30; at++) enter(of(`b${at}`), 0)
  expect(told.length).toBe(1 + 9 + 30 - 1 - 32)
  expect(turns.startNext(15_001)).toBe(false)
  expect(told.length).toBe(39)
})

it('each caller gets exactly one response', () => {
  const step = fc.record({
    what: fc.constantFrom('enter', 'next', 'over', 'quick'),
    account: fc.constantFrom('a', 'b', 'c'),
    ms: fc.integer({ min: 0, max: 4_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { turns, told, enter } = opened()
      let nowMs = 0
      let entered = 0
      for (const { what, account, ms } of steps) {
        nowMs += ms
        if (what === 'enter') entered += enter(of(account), nowMs) === undefined ? 0 : 1
        if (what === 'next') turns.startNext(nowMs)
        if (what === 'over') turns.onStart(of(account), nowMs)
        if (what === 'over' || what === 'quick') turns.onEnd(of(account), ms, what === 'over', nowMs)
      }
      while (turns.startNext(nowMs));
      expect(told.length).toBe(entered)
    }),
  )
})
