// What pages of this host ask without a key: bodies of JSON, answers that nobody keeps, refusals, and the cookie of a session.

import type * as z from 'zod'
import type { AddressVerdict } from '../accounts/address-limiter.ts'
import { createSession, endSession, type SessionOrigin } from '../accounts/sessions/session.store.ts'
import { isSameOrigin, sessionCookie, sessionToken } from '../accounts/sessions/session.ts'
import { readJsonBody } from '../core/body.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { parseWith } from '../core/validation-errors.ts'
import { restFailure } from '../protocol/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../protocol/request-id.ts'

/** Replies with an id of their own; `body` is JSON, as text where it is written already. */
export function ownPageReplies(requestId: () => string) {
  return {
    respond: (body: unknown, status = 200, more: Readonly<Record<string, string>> = {}): Response =>
      new Response(typeof body === 'string' ? body : JSON.stringify(body), {
        status,
        headers: {
          'content-type': 'application/json',
          'cache-control': 'no-store',
          [REQUEST_ID_HEADER]: requestId(),
          ...more,
        },
      }),
    reject: (failure: Failure): Response => {
      const { status, headers, body } = restFailure(failure, requestId())
      return new Response(body, { status, headers: { ...headers, 'cache-control': 'no-store' } })
    },
  }
}

/** The refusal of an address that came too often, null where it did not. */
export const rateLimitFailure = ({ waitMs, limit }: AddressVerdict): Failure | null =>
  waitMs > 0 ? { kind: 'rate_limited', retryAfterMs: waitMs, limit } : null

/** The body that a page of this host sent; `foreign`: what another one is told. */
export async function ownPageBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  maxBytes: number,
  foreign: Failure,
): Promise<Result<T, Failure>> {
  if (!isSameOrigin(request)) return err(foreign)
  const source = { chunks: request.body, contentLength: request.headers.get('content-length') }
  const body = await readJsonBody(source, maxBytes)
  if (!body.ok) return body
  const read = parseWith(schema, body.value)
  return read.ok ? ok(read.value) : err({ kind: 'bad_field', issues: read.error })
}

/** Begins a session in the place of the one that the request has. */
export async function startSession(db: D1Database, request: Request, origin: SessionOrigin, nowMs: number) {
  const before = sessionToken(request.headers.get('cookie'))
  if (before !== null) await endSession(db, before)
  const { token, seconds, expires } = await createSession(db, origin, nowMs)
  return { expires, headers: { 'set-cookie': sessionCookie(token, seconds) } }
}
