import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outcomeOf, retryDelayMs } from '../../src/upstream/outcome.ts'

const reply = (status: number, text: string, retryAfter: string | null = null) => ({ status, text, retryAfter })

describe('outcomeOf', () => {
  it.each([
    ['an answer', reply(200, '{"a":1}'), { kind: 'answer', text: '{"a":1}' }],
    ['null is an answer', reply(200, 'null'), { kind: 'answer', text: 'null' }],
    ['a cut body', reply(200, '{"a":1'), { kind: 'broken', whole: false }],
    ['garbage', reply(200, '<html>'), { kind: 'broken', whole: false }],
    ['an empty body', reply(200, ''), { kind: 'broken', whole: false }],
    ['422', reply(422, 'Failed to deserialize'), { kind: 'refused' }],
    ['500 with null, which means an unknown dex', reply(500, 'null'), { kind: 'refused' }],
    ['500', reply(500, 'oops'), { kind: 'broken', whole: false }],
    ['a redirect', reply(302, ''), { kind: 'broken', whole: false }],
    ['502', reply(502, ''), { kind: 'broken', whole: true }],
    ['no connection', { failed: 'unreachable' } as const, { kind: 'broken', whole: true }],
    ['a body over the bound', { failed: 'oversized' } as const, { kind: 'broken', whole: false }],
    ['silence', { failed: 'timeout' } as const, { kind: 'timeout' }],
  ])('%s', (_, sent, outcome) => {
    expect(outcomeOf(sent, 0)).toEqual(outcome)
  })

  it.each([
    ['3', 3_000],
    ['0', 0],
    [null, 1_000],
    ['soon', 1_000],
    ['86400', 60_000],
    ['Thu, 01 Jan 1970 00:00:12 GMT', 2_000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ])('Retry-After %s', (retryAfter, restMs) => {
    expect(outcomeOf(reply(429, 'null', retryAfter), 10_000)).toEqual({ kind: 'busy', restMs })
  })
})

it('a retry waits a random part of a base that doubles', () => {
  fc.assert(
    fc.property(fc.nat(5), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, random) => {
      const delay = retryDelayMs(attempt, random)
      return delay >= 0 && delay < 100 * 2 ** attempt
    }),
  )
})
