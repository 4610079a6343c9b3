import { expect, it } from 'vitest'
import { AnswerCache } from '../../../src/info/answer/answer-tiers.ts'
import { CallMemo, readCall } from '../../../src/info/answer/call.ts'

const answer = (length: number, at = 0) => ({ body: 'x'.repeat(length), at })

it('AnswerCache rejects huge entries and never replaces a newer response with an older one', () => {
  const cache = new AnswerCache(10_000)
  cache.set('giant', answer(3_000))
  expect(cache.get('giant', 0)).toBeUndefined()
  cache.set('k', answer(1, 5))
  cache.set('k', answer(1, 4))
  expect(cache.get('k', 5)?.at).toBe(5)
})

it('AnswerCache counts a different KV copy towards its size', () => {
  const cache = new AnswerCache(10_000)
  for (let i = 0; i < 10; i++) cache.set(`k${i}`, { ...answer(700, i), stored: { at: 0, body: 'y'.repeat(700) } })
  const kept = Array.from({ length: 10 }, (_, i) => cache.get(`k${i}`, 20)).filter(Boolean)
  expect(kept).toHaveLength(6)
  const same = answer(700)
  for (let i = 0; i < 10; i++) cache.set(`s${i}`, { ...same, stored: same })
  expect(Array.from({ length: 10 }, (_, i) => cache.get(`s${i}`, 20)).filter(Boolean)).toHaveLength(10)
})

it('AnswerCache drops entries from the future after the clock was set back', () => {
  const cache = new AnswerCache()
  cache.set('k', answer(1, 60_000))
  expect(cache.get('k', 55_000)?.at).toBe(60_000)
  expect(cache.get('k', 54_999)).toBeUndefined()
  cache.set('k', answer(1, 54_999))
  expect(cache.get('k', 55_000)?.at).toBe(54_999)
})

it('CallMemo keeps repeated bodies, evicts others and ignores long bodies', () => {
  const memo = new CallMemo()
  const read = readCall('{"type":"meta"}')
  if (!read.ok) throw new Error('refused')
  const text = (i: number) => `{"type":"meta"}${' '.repeat(i)}`
  for (let i = 0; i < 5_000; i++) {
    memo.set(text(i % 2_000), read.value)
    expect(memo.get(text(0))).toBe(read.value)
  }
  expect(memo.get(text(100))).toBeUndefined()
  memo.set(text(3_000), read.value)
  expect(memo.get(text(3_000))).toBeUndefined()
})
