// Browsers of any origin may ask with a key in a header and read what a reply says about itself: "*" lets no cookie along,
// and what other pages ask with a session is refused besides. The doors of operator, feeder, session, sign-up and live page
// stay closed to them.

const ORIGIN = { 'access-control-allow-origin': '*' } as const
const EXPOSED_HEADERS = [
  'x-request-id',
  'x-credits-cost',
  'x-credits-remaining',
  'x-block-height',
  'x-history-from-height',
  'x-history-from-time',
  'x-ignored-fields',
  'age',
  'content-range',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
]

/** Added to every reply to a request with an `Origin`. */
export const CORS_HEADERS = { ...ORIGIN, 'access-control-expose-headers': EXPOSED_HEADERS.join(', ') } as const

/** Whether pages of other origins may use this path. */
export function isOpenToBrowsers(path: string): boolean {
  return !/^\/(admin|feed|session|live|signup|checkout)(\/|$)/.test(path)
}

/** The answer to a preflight for an endpoint that takes these methods. */
export function preflightHeaders(methods: readonly string[]): Readonly<Record<string, string>> {
  return {
    ...ORIGIN,
    allow: methods.join(', '),
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '86400',
  }
}
