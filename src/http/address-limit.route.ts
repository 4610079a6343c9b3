// Bounds the requests of one address to a surface before it is known who calls, and tells the caller so on every reply.

import type { MiddlewareHandler } from 'hono'
import type { AddressGate } from '../accounts/address-gate.ts'
import { callerAddress } from '../accounts/caller-address.ts'
import { joinedLimits, limitHeaders } from '../protocol/limit-headers.ts'
import { failureReply, setOnReply } from './every-reply.route.ts'

export interface AddressLimitDeps {
  /** TRUST_PROXY. */
  readonly isProxyTrusted: boolean
  readonly requestId: () => string
  readonly now: () => number
}

/** What a surface puts before its routes. Limits that the routes tell of themselves are joined with this one. */
export function addressLimit(
  gate: AddressGate,
  { isProxyTrusted, requestId, now }: AddressLimitDeps,
): MiddlewareHandler {
  return async (c, next) => {
    const { waitMs, left, limit } = gate.take(callerAddress(isProxyTrusted, c.req.raw.headers), now())
    if (waitMs > 0) return failureReply(c.req.path, { kind: 'rate_limited', retryAfterMs: waitMs, limit }, requestId())
    await next()
    const inner = { ratelimit: c.res.headers.get('ratelimit'), policy: c.res.headers.get('ratelimit-policy') }
    const told = inner.ratelimit && inner.policy ? { ratelimit: inner.ratelimit, 'ratelimit-policy': inner.policy } : {}
    setOnReply(c, joinedLimits(told, limitHeaders(limit, left, left < limit.quota ? limit.windowSeconds : 0)))
    return undefined
  }
}
