import { describe, expect, it } from 'vitest'
import { type Failure, type FailureCode, failureMessage } from '../../src/core/failure.ts'
import { infoFailure, restFailure } from '../../src/protocol/failure-wire.ts'
import { failureFrame, refusedSubscription, socketClose } from '../../src/protocol/relay/failure-frame.ts'
import { newRequestId } from '../../src/protocol/request-id.ts'

type Row<K extends Failure['kind']> = readonly [
  Omit<Extract<Failure, { kind: K }>, 'kind'>,
  info: number,
  rest: number,
  socketClose: number,
  code: FailureCode,
]

/** Surface × failure. A new kind does not compile without its row. */
const ROWS: { readonly [K in Failure['kind']]: Row<K> } = {
  key_missing: [{}, 401, 401, 4401, 'unauthorized'],
  key_malformed: [{}, 401, 401, 4401, 'unauthorized'],
  key_unknown: [{}, 401, 401, 4401, 'unauthorized'],
  key_revoked: [{}, 401, 401, 4401, 'unauthorized'],
  key_replaced: [{}, 401, 401, 4401, 'unauthorized'],
  key_expired: [{}, 401, 401, 4401, 'unauthorized'],
  not_entitled: [{ why: 'x' }, 403, 403, 4401, 'forbidden'],
  credits_exhausted: [{ neededMicro: 1, remainingMicro: 0 }, 402, 402, 4402, 'credits_exhausted'],
  payment_required: [{ why: 'Pay.' }, 402, 402, 4402, 'payment_required'],
  rate_limited: [{ retryAfterMs: 1_200 }, 429, 429, 1008, 'rate_limited'],
  limit_reached: [{ limit: 'x', most: 1 }, 429, 429, 1008, 'rate_limited'],
  not_json: [{}, 400, 400, 1008, 'invalid_json'],
  unsupported_media_type: [{}, 415, 415, 1008, 'unsupported_media_type'],
  body_too_large: [{ limitBytes: 1 }, 413, 413, 1008, 'body_too_large'],
  unknown_type: [{ type: 'nope' }, 400, 400, 1008, 'unsupported_type'],
  not_found: [{ what: 'This' }, 404, 404, 1008, 'not_found'],
  method_not_allowed: [{ allow: ['GET', 'HEAD'] }, 405, 405, 1008, 'method_not_allowed'],
  bad_field: [{ issues: [{ path: 'req.coin', message: 'is required' }] }, 422, 400, 1008, 'invalid_request'],
  upstream_failed: [{ source: 'node' }, 502, 502, 1013, 'upstream_failed'],
  upstream_timeout: [{ source: 'node' }, 504, 504, 1013, 'upstream_timeout'],
  unavailable: [{ what: 'Books are loading' }, 503, 503, 1013, 'unavailable'],
  internal: [{}, 500, 500, 1011, 'internal'],
}

describe('failures on the wire', () => {
  describe.each(Object.entries(ROWS))('%s', (kind, [more, info, rest, close, code]) => {
    const failure = { kind, ...more } as Failure
    const sentence = failureMessage(failure)

    it('on info', () => {
      const reply = infoFailure(failure, 'req_1')
      expect(reply.status).toBe(info)
      expect(reply.headers['x-request-id']).toBe('req_1')
      const body = JSON.parse(reply.body)
      expect(body).toMatchObject({ code, msg: sentence, message: sentence, request_id: 'req_1' })
      // Behavior of a client that reads `error` before the status.
      expect(body.error).toBe(info === 401 || info === 429 || info >= 500 ? undefined : code)
    })

    it('on REST', () => {
      const reply = restFailure(failure, 'req_1')
      expect(reply.status).toBe(rest)
      const message = kind === 'internal' ? `${sentence} (req_1)` : sentence
      expect(JSON.parse(reply.body)).toEqual({ error: true, error_message: message, error_code: String(rest) })
    })

    // WS-40
    it('on a socket: error frame, rejected subscription, and close', () => {
      expect(JSON.parse(failureFrame(failure))).toEqual({ channel: 'error', data: sentence, code })
      const echo = '{"type":"x"}'
      expect(JSON.parse(refusedSubscription(echo, failure))).toEqual({
        channel: 'error',
        data: `Invalid subscription ${echo}: ${sentence}`,
        code,
      })
      const end = socketClose(failure)
      const told = close === 4401 ? 'unauthorized' : code
      expect([end.code, JSON.parse(end.lastFrame)]).toEqual([close, { channel: 'error', data: sentence, code: told }])
      expect(new TextEncoder().encode(end.reason).length).toBeLessThanOrEqual(123)
    })

    it('use the hint of the failing code on every surface', () => {
      const hinted = { ...failure, hint: 'Do this.' }
      expect(JSON.parse(infoFailure(hinted, 'r').body).msg).toBe('Do this.')
      expect(JSON.parse(restFailure(hinted, 'r').body).error_message).toMatch(/^Do this\./)
      expect(JSON.parse(failureFrame(hinted)).data).toBe('Do this.')
    })
  })

  it('include the retry time and the requested type', () => {
    expect(infoFailure({ kind: 'rate_limited', retryAfterMs: 1_200 }, 'r').headers['retry-after']).toBe('2')
    expect(infoFailure({ kind: 'unavailable', what: 'x' }, 'r').headers['retry-after']).toBe('1')
    expect(restFailure({ kind: 'unavailable', what: 'x' }, 'r').headers['retry-after']).toBe('1')
    const full = infoFailure({ kind: 'limit_reached', limit: 'stream_connections', most: 1 }, 'r')
    expect(full.headers['retry-after']).toBe('10')
    expect(infoFailure({ kind: 'internal' }, 'r').headers['retry-after']).toBeUndefined()
    expect(JSON.parse(infoFailure({ kind: 'unknown_type', type: 'nope' }, 'r').body).type).toBe('nope')
    const long = { kind: 'unknown_type', type: 'x'.repeat(60_000) } as const
    expect(infoFailure(long, 'r').body.length).toBeLessThan(500)
  })

  it('name the exceeded limit and the supported methods', () => {
    const limit = { name: 'free', quota: 20, windowSeconds: 1 }
    expect(infoFailure({ kind: 'rate_limited', retryAfterMs: 1_001, limit }, 'r').headers).toMatchObject({
      'retry-after': '2',
      ratelimit: '"free";r=0;t=2',
      'ratelimit-policy': '"free";q=20;w=1',
    })
    expect(restFailure({ kind: 'method_not_allowed', allow: ['GET', 'HEAD'] }, 'r').headers.allow).toBe('GET, HEAD')
  })

  it('include the remaining credits', () => {
    const exhausted = { kind: 'credits_exhausted', neededMicro: 1_000_000, remainingMicro: 130_000 } as const
    const credits = { 'x-credits-cost': '0', 'x-credits-remaining': '0.13' }
    expect(infoFailure(exhausted, 'r').headers).toMatchObject(credits)
    const limited = { kind: 'rate_limited', retryAfterMs: 1, remainingMicro: 130_000 } as const
    expect(infoFailure(limited, 'r').headers).toMatchObject(credits)
  })

  it('has a unique id', () => {
    expect(newRequestId((bytes) => new Uint8Array(bytes))).toBe('req_1111111111111111')
  })
})
