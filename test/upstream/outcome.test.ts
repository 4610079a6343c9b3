import { describe, expect, it } from 'vitest'
import { outcomeOf } from '../../src/upstream/outcome.ts'

const reply = (status: number, text: string, retryAfter: string | null = null) => ({ status, text, retryAfter })
const META = '{"type":"meta"}'
const DEX = '{"type":"meta","dex":"nope"}'
const broken = (whole: boolean, again: boolean) => ({ kind: 'broken', whole, again })

describe('outcomeOf', () => {
  it.each([
    ['an answer', reply(200, '{"a":1}'), { kind: 'answer', text: '{"a":1}', rows: 0 }],
    ['a list', reply(200, '[1,2,3]'), { kind: 'answer', text: '[1,2,3]', rows: 3 }],
    ['null is an answer', reply(200, 'null'), { kind: 'answer', text: 'null', rows: 0 }],
    ['garbage', reply(200, '<html>'), broken(false, true)],
    ['an empty body', reply(200, ''), broken(false, true)],
    ['422', reply(422, 'Failed to deserialize'), { kind: 'refused', sure: true }],
    ['400', reply(400, 'Failed to parse'), { kind: 'refused', sure: true }],
    ['500 with null for a request that has no names', reply(500, 'null'), broken(false, true)],
    ['500', reply(500, 'oops'), broken(false, true)],
    ['404, which more asking will not change', reply(404, ''), broken(false, false)],
    ['401, which is about us and not about the type', reply(401, ''), broken(true, false)],
    ['a redirect', reply(302, ''), broken(false, false)],
    ['502', reply(502, ''), broken(true, true)],
    ['503', reply(503, ''), broken(true, true)],
    ['503 that asks for a pause', reply(503, '', '7'), { kind: 'busy', restMs: 7_000 }],
    ['no connection', { failed: 'unreachable' } as const, { ...broken(true, true), surely: true }],
    ['a cut body', { failed: 'cut' } as const, broken(false, true)],
    ['a body over the bound', { failed: 'oversized' } as const, broken(false, false)],
    ['silence', { failed: 'timeout' } as const, { kind: 'timeout' }],
  ])('%s', (_, sent, outcome) => {
    expect(outcomeOf(sent, META, 0)).toEqual(outcome)
  })

  it.each([
    [DEX, true],
    ['{"type":"fundingHistory","coin":"NOPE","startTime":0}', true],
    ['{"type":"marginTable","id":99}', true],
    ['{"type":"outcomeDeployerLimits","venue":"out"}', true],
    [`{"type":"userFillsByTime","user":"0x${'a'.repeat(40)}","startTime":5,"aggregateByTime":true}`, false],
  ])('takes 500 with null for a refusal where the request has names of the exchange: %s', (body, hasNames) => {
    expect(outcomeOf(reply(500, 'null'), body, 0)).toEqual(
      hasNames ? { kind: 'refused', sure: false } : broken(false, true),
    )
  })

  it.each([
    ['3', 3_000],
    ['0', 0],
    [null, 1_000],
    ['', 1_000],
    ['-1', 1_000],
    ['soon', 1_000],
    ['86400', 60_000],
    ['Thu, 01 Jan 1970 00:00:12 GMT', 2_000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ])('Retry-After %s', (retryAfter, restMs) => {
    expect(outcomeOf(reply(429, 'null', retryAfter), META, 10_000)).toEqual({ kind: 'busy', restMs })
  })
})
