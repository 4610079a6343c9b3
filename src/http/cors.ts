// CORS: pages of any origin may call the API with a key in a header. "*" excludes cookies, so sessions are never
// exposed. The operator, feeder, metrics, session, sign-up, checkout and live-page routes stay closed to other origins.

/** Path of the MCP server. Its results state their cost, because their headers are sent before the cost is known. */
export const MCP_PATH = '/mcp'

const ORIGIN = { 'access-control-allow-origin': '*' } as const
const EXPOSED_HEADERS = [
  'x-request-id',
  'x-credits-cost',
  'x-credits-remaining',
  'x-block-height',
  'x-history-from-height',
  'x-history-from-time',
  'x-omitted-trades',
  'x-next-cursor',
  'x-ignored-fields',
  'age',
  'content-range',
  'payment-required',
  'payment-response',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
]

/** Added to every reply to a request with an `Origin`. */
export const CORS_HEADERS = { ...ORIGIN, 'access-control-expose-headers': EXPOSED_HEADERS.join(', ') } as const

/** True for paths that pages of other origins may call. */
export function isOpenToBrowsers(path: string): boolean {
  return !/^\/(admin|feed|metrics|session|live|signup|checkout)(\/|$)/.test(path)
}

/** Clients of x402 send the last two when they pay. */
const REQUEST_HEADERS = 'authorization, content-type, payment-signature, access-control-expose-headers'
/** Headers that MCP clients in a browser also send. */
const MCP_HEADERS = `${REQUEST_HEADERS}, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id`

/** Response headers of a preflight for the endpoint at this path, with these methods. */
export function preflightHeaders(path: string, methods: readonly string[]): Readonly<Record<string, string>> {
  return {
    ...ORIGIN,
    allow: methods.join(', '),
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': path === MCP_PATH ? MCP_HEADERS : REQUEST_HEADERS,
    'access-control-max-age': '86400',
  }
}
