// Subscription bodies and their identity, which is the exact JSON value. Only the order of keys does not matter.

import { type MarketType, marketTypeOf } from '../core/coin.ts'
import { parseJson } from '../core/json.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export interface SubscriptionBody {
  readonly type: string
  readonly [key: string]: Json
}

/**
 * The range of a replay. It starts at exactly one of `fromTime` (Unix ms) and `fromBlock`. It has an end or continues
 * live.
 */
export interface ReplayRange {
  readonly fromTime?: number | undefined
  readonly fromBlock?: number | undefined
  readonly toTime?: number | undefined
  readonly toBlock?: number | undefined
  /** Speed factor. */
  readonly speed?: number | 'max' | undefined
}

/**
 * The books to follow: those of one coin, a list of coins, or all coins of some market types (`*`: of all types,
 * including future ones).
 */
export type BookScope =
  | { readonly coin: string | readonly string[] }
  | { readonly marketTypes?: readonly (MarketType | '*')[] }

/** The body of a book stream that has sequence numbers and checksums. */
export function bookBody(scope: BookScope): SubscriptionBody {
  return { type: 'l2BookDiff2', ...scope, checksum: true }
}

/** The body for the fills of all wallets, either in one coin or, if null, in all coins. */
export function allFillsBody(coin: string | null = null): SubscriptionBody {
  return { type: 'allFills', ...(coin !== null && { coin }) }
}

/** The coins of a book body; null if it has a wildcard. */
export function listedCoins(body: SubscriptionBody): readonly string[] | null {
  const coin = body.coin
  if (typeof coin === 'string') return [coin]
  return Array.isArray(coin) ? (coin as string[]) : null
}

/** Whether a book body includes this coin. A wildcard without `marketTypes` includes only perps. */
export function isInScope(body: SubscriptionBody, coin: string): boolean {
  const coins = listedCoins(body)
  if (coins) return coins.includes(coin)
  const types = (body.marketTypes as readonly string[] | undefined) ?? ['perp']
  return types.includes('*') || types.includes(marketTypeOf(coin))
}

const ADDRESS = /^0x[0-9a-f]{40}$/i

/** The form in which gateways acknowledge a body. It has no fields with default values (WS-19). */
export function normalBody(body: SubscriptionBody): SubscriptionBody {
  const present = Object.entries(body).filter(([, value]) => value !== null && value !== false && value !== undefined)
  return Object.fromEntries(present.map(([field, value]) => [field, lowered(value)])) as SubscriptionBody
}

function lowered(value: Json): Json {
  if (Array.isArray(value)) return value.map(lowered)
  return typeof value === 'string' && ADDRESS.test(value) ? value.toLowerCase() : value
}

/** The identity of a body, by which acknowledgements and errors refer to it. */
export function bodyKey(body: SubscriptionBody): string {
  return sortedJson(normalBody(body))
}

function sortedJson(body: Json): string {
  if (Array.isArray(body)) return `[${body.map(sortedJson).join(',')}]`
  if (body === null || typeof body !== 'object') return JSON.stringify(body)
  const entries = Object.entries(body as Record<string, Json>).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${sortedJson(value)}`).join(',')}}`
}

/** The JSON object in an error message (`Invalid subscription {…}: why`); null if there is none. */
export function embeddedBody(text: string): SubscriptionBody | null {
  const from = text.indexOf('{')
  for (let to = text.lastIndexOf('}'); from >= 0 && to > from; to = text.lastIndexOf('}', to - 1)) {
    const found = parse(text.slice(from, to + 1))
    if (found) return found
  }
  return null
}

/** The key of the body in an error message; empty if there is none. */
export function embeddedKey(text: string): string {
  const body = embeddedBody(text)
  return body ? bodyKey(body) : ''
}

/** The part of an error message after its body. If there is no body, the whole message. */
export function reasonOf(text: string): string {
  const after = text.slice(text.lastIndexOf('}') + 1)
  return /^: ?(?=\S)/.test(after) ? after.replace(/^: ?/, '') : text
}

function parse(text: string): SubscriptionBody | null {
  const found = Object(parseJson(text)) as { readonly subscription?: unknown }
  const body = (typeof found.subscription === 'object' && found.subscription ? found.subscription : found) as {
    readonly type?: unknown
  }
  return typeof body.type === 'string' ? (body as SubscriptionBody) : null
}
