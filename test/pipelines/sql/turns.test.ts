// Whose SQL runs next, and who waits.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SqlCaller, SqlWait } from '../../../src/pipelines/sql/sql-api.ts'
import { type Strikes, Turns } from '../../../src/pipelines/sql/turns.ts'

const of = (account: string, pipeline = `pipe_${account}`, kind: SqlCaller['kind'] = 'batch') => ({
  account,
  pipeline,
  kind,
})
const opened = () => {
  const strikes = new Map<string, Strikes>()
  const turns = new Turns({
    get: (pipeline) => strikes.get(pipeline) ?? null,
    put: (pipeline, own) => void strikes.set(pipeline, own),
    delete: (pipeline) => void strikes.delete(pipeline),
  })
  const told: [account: string, refused: SqlWait | null][] = []
  const enter = (caller: SqlCaller, nowMs: number) => {
    turns.enter(caller, (refused) => void told.push([caller.account, refused]), nowMs)
    return told.at(-1)?.[1] ?? null
  }
  return { turns, told, enter, strikes }
}
const words = (pattern: RegExp) => ({ waitMs: expect.any(Number), words: expect.stringMatching(pattern) })

// PIPE-18
it('who has used least goes first, and of those who came first', () => {
  const { turns, told, enter } = opened()
  turns.end(of('greedy'), 3_000, false, 0)
  for (const account of ['greedy', 'greedy', 'small', 'other']) enter(of(account), 0)
  while (turns.next(1));
  expect(told).toEqual([
    ['small', null],
    ['other', null],
    ['greedy', null],
    ['greedy', null],
  ])
})

// PIPE-18
it('who has used up its CPU time waits until that is refilled, also who stood in line already', () => {
  const { turns, told, enter } = opened()
  enter(of('a'), 0)
  enter(of('a'), 0)
  expect(turns.next(0)).toBe(true)
  turns.end(of('a'), 7_000, false, 0)
  expect(turns.next(0)).toBe(false)
  expect(told[1]).toEqual(['a', { waitMs: 20_010, words: expect.stringMatching(/have used their CPU time/) }])
  expect(turns.takeSlot('a', 19_000)).toEqual(words(/CPU time/))
  expect(enter(of('a'), 20_009)).toEqual(words(/CPU time/))
  expect(turns.takeSlot('a', 20_010)).toBeNull()
  expect(turns.next(20_010)).toBe(false)
  enter(of('a'), 20_010)
  expect(turns.next(20_010)).toBe(true)
})

// PIPE-18
it('a pipeline that exceeds its budget waits twice as long each time, ten minutes at most, and success ends that', () => {
  const { turns, enter, strikes } = opened()
  const waits: number[] = []
  let nowMs = 0
  for (let run = 0; run < 9; run++) {
    turns.begin(of('a'), nowMs)
    turns.end(of('a'), 1, true, nowMs)
    waits.push(enter(of('a'), nowMs)!.waitMs)
    expect(enter(of('a'), nowMs)).toEqual(words(/exceeded the budget of a run/))
    // Another pipeline of the account does not.
    expect(turns.next(nowMs)).toBe(false)
    nowMs = strikes.get('pipe_a')!.untilMs
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600].map((seconds) => seconds * 1_000))
  // It ended with the isolate: begun, and never over.
  turns.begin(of('a'), nowMs)
  expect(enter(of('a'), nowMs)).toEqual(words(/the last 10 runs/))
  turns.end(of('a'), 1, false, nowMs)
  expect(strikes.size).toBe(0)
})

// PIPE-18
it('a run that is known to be quick needs no strike before, and gets one where it exceeded its budget', () => {
  const { turns, enter, strikes } = opened()
  expect(turns.begin(of('a'), 0)).toBe(true)
  turns.end(of('a'), 499, false, 0)
  expect(turns.begin(of('a'), 0)).toBe(false)
  turns.end(of('a'), 499, true, 0)
  expect(enter(of('a'), 0)).toEqual(words(/the last run of these/))
  // A check takes it from nobody.
  expect(turns.begin(of('a', 'pipe_a', 'check'), 0)).toBe(false)
  turns.end(of('a', 'pipe_a', 'check'), 1, false, 0)
  expect(strikes.get('pipe_a')).toEqual({ count: 1, untilMs: 10_000 })
  expect(turns.begin(of('a'), 10_000)).toBe(true)
  turns.end(of('a'), 500, false, 10_000)
  expect(turns.begin(of('a'), 10_000)).toBe(true)
})

// PIPE-18
it('an account tests one at a time, and four do in all; whose caller vanished is over after a while', () => {
  const { turns } = opened()
  expect(turns.takeSlot('a', 0)).toBeNull()
  expect(turns.takeSlot('a', 0)).toEqual(words(/another test or check of this account/))
  for (const account of ['b', 'c', 'd']) expect(turns.takeSlot(account, 0)).toBeNull()
  expect(turns.takeSlot('e', 0)).toEqual(words(/as many tests as it can/))
  turns.freeSlot('b')
  expect(turns.takeSlot('e', 0)).toBeNull()
  expect(turns.takeSlot('a', 70_000)).toBeNull()
})

it('what waits is bounded, and nobody waits for good', () => {
  const { turns, told, enter } = opened()
  for (let at = 0; at < 9; at++) enter(of('a'), 0)
  expect(told).toEqual([['a', words(/waits for its turn/)]])
  for (let at = 0; at < 30; at++) enter(of(`b${at}`), 0)
  expect(told.length).toBe(1 + 9 + 30 - 1 - 32)
  expect(turns.next(15_001)).toBe(false)
  expect(told.length).toBe(39)
})

it('each caller is answered once, whatever happens', () => {
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
        if (what === 'next') turns.next(nowMs)
        if (what === 'over') turns.begin(of(account), nowMs)
        if (what === 'over' || what === 'quick') turns.end(of(account), ms, what === 'over', nowMs)
      }
      while (turns.next(nowMs));
      expect(told.length).toBe(entered)
    }),
  )
})
