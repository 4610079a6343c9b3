// Cause and fix of each error code, for the page of errors. The statuses and numbers come from core/failure.ts.

import { FAILURES, type FailureCode } from '../../core/failure.ts'
import { infoStatus } from '../../protocol/failure-wire.ts'

/** In the order of the page. Links are relative to docs/reference. */
const TEXTS: Readonly<Record<FailureCode, readonly [cause: string, fix: string]>> = {
  invalid_json: ['The body is not valid UTF-8 JSON, or is nested too deeply', 'Send one JSON object'],
  unsupported_type: ['`type` does not exist', 'Use a type of [the list](info.md#types)'],
  invalid_request: [
    'A field is missing or wrong, or the exchange does not know the coin or DEX',
    'Correct the field that the message names',
  ],
  unauthorized: [
    'The key is missing, malformed, unknown, revoked, replaced or expired',
    'Send a valid key, see [Authentication](authentication.md)',
  ],
  credits_exhausted: [
    'The account or the cap of the key has too few credits',
    'Top up, or raise the cap, see [Pricing](pricing.md#without-credits)',
  ],
  payment_required: [
    'There is no key, and the gateway accepts payments by wallets; or a payment was not taken',
    'Send a key, or [pay](../guides/pay-per-call.md) as the header `payment-required` says',
  ],
  forbidden: [
    'The key lacks the product, is of the wrong kind, or is limited to other IP addresses. A stream token does not include this channel, type or coin',
    'Use a different key or token',
  ],
  not_found: ['The endpoint, coin, chain, key or pipeline does not exist', 'Correct the path or name'],
  method_not_allowed: ['The endpoint does not accept this HTTP method', 'Use a method from the `Allow` header'],
  body_too_large: [
    'The body exceeds 64 KiB on `/info`, 1 MiB on JSON-RPC and pipelines, or 16 KiB on other REST calls',
    'Send less at a time',
  ],
  unsupported_media_type: ['The content type is not JSON', 'Send `Content-Type: application/json`'],
  rate_limited: ['A [rate limit](rate-limits.md) is exceeded', 'Wait as long as `retry-after` says'],
  internal: ['A bug in the gateway', 'Retry with backoff, and report the request id'],
  upstream_failed: ['The data source of this type returned an error', 'Retry with backoff'],
  unavailable: [
    'A data source, an order book, the credit meter or a relay is not ready',
    'Wait as long as `retry-after` says; on a socket, resubscribe after a few seconds',
  ],
  upstream_timeout: ['The data source did not respond in time', 'Retry with backoff'],
}

/** Each code once, with its form on each surface. */
export function failureRows() {
  const kinds = Object.keys(FAILURES) as (keyof typeof FAILURES)[]
  return (Object.entries(TEXTS) as [FailureCode, readonly [string, string]][]).flatMap(([code, [cause, fix]]) => {
    const kind = kinds.find((each) => FAILURES[each].code === code)
    if (kind === undefined) return []
    const { http, rpc } = FAILURES[kind]
    return [{ code, info: infoStatus(kind), http, rpc, cause, fix }]
  })
}
