// Helpers for endpoints that only pages of this host call, without a key: JSON bodies, uncached replies and session
// cookies.

import type * as z from 'zod'
import type { AddressVerdict } from '../accounts/address-limiter.ts'
import { createSession, endSession } from '../accounts/sessions/session.store.ts'
import { isSameOrigin, type SessionOrigin, sessionCookie, sessionToken } from '../accounts/sessions/session.ts'
import { browserOf, sessionPlace } from '../accounts/sessions/session-client.ts'
import { readJsonBody } from '../core/body.ts'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { parseWith } from '../core/validation-errors.ts'
import { restFailure } from '../protocol/failure-wire.ts'
import { REQUEST_ID_HEADER } from '../protocol/request-id.ts'

/** Builds replies with a new request id; a string `body` is already JSON. */
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

/** Failure if the address exceeded its rate limit, else null. */
export const rateLimitFailure = ({ waitMs, limit }: AddressVerdict): Failure | null =>
  waitMs > 0 ? { kind: 'rate_limited', retryAfterMs: waitMs, limit } : null

/** Parses the body of a same-origin request; any other origin gets `foreign`. */
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

/** Starts a session that replaces the request's session. `address` belongs to the caller; null if unknown or forgeable. */
export async function startSession(
  db: D1Database,
  request: Request,
  origin: SessionOrigin,
  address: string | null,
  nowMs: number,
) {
  const before = sessionToken(request.headers.get('cookie'))
  if (before !== null) await endSession(db, before)
  const { country } = (request.cf ?? {}) as { readonly country?: unknown }
  const client = { browser: browserOf(request.headers.get('user-agent')), place: sessionPlace(country, address) }
  const { token, seconds, expires } = await createSession(db, origin, client, nowMs)
  return { expires, headers: { 'set-cookie': sessionCookie(token, seconds) } }
}
