import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/core/failure.ts'
import { infoFailure, restFailure } from '../../src/edge/failure-wire.ts'
import { newRequestId } from '../../src/edge/request-id.ts'

const cases: readonly [Failure, info: number, rest: number, code: string][] = [
  [{ kind: 'key_missing' }, 401, 401, 'unauthorized'],
  [{ kind: 'key_malformed' }, 401, 401, 'unauthorized'],
  [{ kind: 'key_unknown' }, 401, 401, 'unauthorized'],
  [{ kind: 'key_revoked' }, 401, 401, 'unauthorized'],
  [{ kind: 'key_expired' }, 401, 401, 'unauthorized'],
  [{ kind: 'not_entitled', to: 'x' }, 403, 403, 'forbidden'],
  [{ kind: 'credits_exhausted', neededMicro: 1, remainingMicro: 0 }, 402, 402, 'credits_exhausted'],
  [{ kind: 'rate_limited', retryAfterMs: 1_200 }, 429, 429, 'rate_limited'],
  [{ kind: 'not_json' }, 400, 400, 'invalid_json'],
  [{ kind: 'unsupported_media_type' }, 415, 415, 'unsupported_media_type'],
  [{ kind: 'body_too_large', limitBytes: 1 }, 413, 413, 'body_too_large'],
  [{ kind: 'unknown_type', type: 'nope' }, 400, 400, 'unsupported_type'],
  [{ kind: 'not_found', what: 'This' }, 404, 404, 'not_found'],
  [{ kind: 'method_not_allowed', allow: ['GET', 'HEAD'] }, 405, 405, 'method_not_allowed'],
  [{ kind: 'bad_field', issues: [{ path: 'req.coin', message: 'is required' }] }, 422, 400, 'invalid_request'],
  [{ kind: 'upstream_failed', source: 'node' }, 502, 502, 'upstream_failed'],
  [{ kind: 'upstream_timeout', source: 'node' }, 504, 504, 'upstream_timeout'],
  [{ kind: 'unavailable', what: 'Books are loading' }, 503, 503, 'unavailable'],
  [{ kind: 'internal' }, 500, 500, 'internal'],
]

describe('failures on the wire', () => {
  it.each(cases)('%o', (failure, info, rest, code) => {
    const onInfo = infoFailure(failure, 'req_1')
    expect(onInfo.status).toBe(info)
    expect(onInfo.headers['x-request-id']).toBe('req_1')
    expect(JSON.parse(onInfo.body)).toMatchObject({ error: code, code, msg: expect.any(String), request_id: 'req_1' })
    const onRest = restFailure(failure, 'req_1')
    expect(onRest.status).toBe(rest)
    expect(JSON.parse(onRest.body)).toEqual({
      error: true,
      error_message: expect.any(String),
      error_code: String(rest),
    })
  })

  it('says when to come back, and what type was asked for', () => {
    expect(infoFailure({ kind: 'rate_limited', retryAfterMs: 1_200 }, 'r').headers['retry-after']).toBe('2')
    expect(infoFailure({ kind: 'unavailable', what: 'x' }, 'r').headers['retry-after']).toBe('1')
    expect(infoFailure({ kind: 'internal' }, 'r').headers['retry-after']).toBeUndefined()
    expect(JSON.parse(infoFailure({ kind: 'unknown_type', type: 'nope' }, 'r').body).type).toBe('nope')
    const long = { kind: 'unknown_type', type: 'x'.repeat(60_000) } as const
    expect(infoFailure(long, 'r').body.length).toBeLessThan(500)
  })

  it('names the limit that was met, and the methods that are taken', () => {
    const limit = { name: 'free', quota: 20, windowSeconds: 1 }
    expect(infoFailure({ kind: 'rate_limited', retryAfterMs: 1_001, limit }, 'r').headers).toMatchObject({
      'retry-after': '2',
      ratelimit: '"free";r=0;t=2',
      'ratelimit-policy': '"free";q=20;w=1',
    })
    expect(restFailure({ kind: 'method_not_allowed', allow: ['GET', 'HEAD'] }, 'r').headers.allow).toBe('GET, HEAD')
  })

  it('says what is left where that is too little', () => {
    const exhausted = { kind: 'credits_exhausted', neededMicro: 1_000_000, remainingMicro: 130_000 } as const
    const credits = { 'x-credits-cost': '0', 'x-credits-remaining': '0.13' }
    expect(infoFailure(exhausted, 'r').headers).toMatchObject(credits)
  })

  it('has an id that is its own', () => {
    expect(newRequestId((bytes) => new Uint8Array(bytes))).toBe('req_1111111111111111')
  })
})
