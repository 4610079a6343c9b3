// Validates the parts of gateway frames that this client reads. Books are validated down to each level, because a wrong
// book is worse than none. Unknown fields, values and channels are accepted, because a newer server must not break an
// older client.

import { UNSIGNED_DECIMAL } from '../core/decimal.ts'
import { parseJson } from '../core/json.ts'
import type { Levels } from '../protocol/feed/block.ts'
import { typeOfFrame } from './channels.ts'
import type { ChannelTypes } from './wire.ts'

/** Any frame of a channel. */
export type DataFrame = ChannelTypes[keyof ChannelTypes]['frame']

interface Body {
  readonly type: string
  readonly [field: string]: unknown
}

/** Progress of a replayed body. */
export interface ReplayEvent {
  readonly event: string
  readonly subscription: Body
  readonly from?: number
  readonly to?: number
}

/** Frames that do not belong to a channel. */
type ReplyFrame =
  | {
      readonly channel: 'subscriptionResponse'
      readonly data: { readonly method: 'subscribe' | 'unsubscribe'; readonly subscription: Body }
    }
  /** `code` is machine-readable; `data` is for people. */
  | { readonly channel: 'error'; readonly data: string; readonly code?: string }
  | { readonly channel: 'notification'; readonly data: { readonly notification: string }; readonly code?: string }
  | { readonly channel: 'pong'; readonly nonce?: string; readonly block_height?: number }
  | { readonly channel: 'replay'; readonly data: ReplayEvent }
export type KnownFrame = DataFrame | ReplyFrame

/** `unknown`: the client does not know the channel. `malformed`: the data is invalid, so something was missed. */
export type Decoded =
  | { readonly kind: 'frame'; readonly frame: KnownFrame }
  | { readonly kind: 'unknown'; readonly channel: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** Returns null, or the path of the invalid value. */
type Check = (value: unknown) => string | null

const text: Check = (value) => (typeof value === 'string' ? null : '')
const wholeNumber: Check = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? null : '')
const integer: Check = (value) => (Number.isSafeInteger(value) ? null : '')
const decimal: Check = (value) => (typeof value === 'string' && UNSIGNED_DECIMAL.test(value) ? null : '')
const anything: Check = () => null

function optional(check: Check): Check {
  return (value) => (value === undefined ? null : check(value))
}

function object(fields: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(fields)
  return (value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return ''
    for (const [field, check] of checks) {
      const invalid = check((value as Record<string, unknown>)[field])
      if (invalid !== null) return invalid ? `${field}.${invalid}` : field
    }
    return null
  }
}

function list(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return ''
    for (let index = 0; index < value.length; index++) {
      const invalid = check(value[index])
      if (invalid !== null) return invalid ? `${index}.${invalid}` : String(index)
    }
    return null
  }
}

function oneOf(first: Check, ...others: readonly Check[]): Check {
  return (value) => (others.some((check) => check(value) === null) ? null : first(value))
}

const side = list(object({ px: decimal, sz: decimal, n: wholeNumber }))
const levels: Check = (value) => (Array.isArray(value) && value.length === 2 ? list(side)(value) : '')
const POSITION = { time: wholeNumber, block_height: wholeNumber }
const change = { coin: text, levels }
const rows = list(anything)
/** Accepts any `data`, which only the client's user reads. */
const anyData: Check = object({ data: (value) => (value === undefined ? '' : null) })
const fills: Check = object({ fills: list((pair) => (Array.isArray(pair) && text(pair[0]) === null ? null : '')) })

const CHECKS: Readonly<Record<string, Check>> = {
  subscriptionResponse: object({
    data: object({
      method: (value) => (value === 'subscribe' || value === 'unsubscribe' ? null : ''),
      subscription: object({ type: text }),
    }),
  }),
  error: object({ data: text, code: optional(text) }),
  notification: object({ data: object({ notification: text }), code: optional(text) }),
  pong: object({ nonce: optional(text), block_height: optional(wholeNumber) }),
  replay: object({
    data: object({
      event: text,
      subscription: object({ type: text }),
      from: optional(wholeNumber),
      to: optional(wholeNumber),
    }),
  }),
  l2BookDiff: object({
    data: oneOf(
      object({ Updates: object({ ...POSITION, book_diffs: list(object(change)) }) }),
      object({ Snapshot: object({ ...POSITION, coin: text, levels }) }),
    ),
  }),
  l2BookDiff2: object({
    data: object({
      Updates: object({
        ...POSITION,
        epoch: text,
        book_diffs: list(object({ ...change, seq: wholeNumber, prev_seq: integer, checksum: optional(wholeNumber) })),
      }),
    }),
  }),
  l4Book: object({
    data: oneOf(
      object({ Updates: object({ ...POSITION, order_statuses: rows, book_diffs: rows }) }),
      object({ Snapshot: object({ ...POSITION, coin: text, levels: list(rows) }) }),
    ),
  }),
  userFills: fills,
  allFills: fills,
  builderFills: fills,
  liquidationFills: fills,
  builderLiquidations: fills,
  orderUpdates: object({ updates: rows }),
  trades: object({ data: rows }),
}

/** Whether a value has the form of book levels. */
export function isLevels(value: unknown): value is Levels {
  return levels(value) === null
}

/** Parses one frame. */
export function decodeFrame(text: string): Decoded {
  const value = parseJson(text)
  if (value === undefined) return { kind: 'malformed', reason: 'a frame is not JSON' }
  const channel = (value as { channel?: unknown } | null)?.channel
  if (typeof channel !== 'string') return { kind: 'malformed', reason: 'a frame has no channel' }
  const own = Object.hasOwn(CHECKS, channel) ? CHECKS[channel] : undefined
  const check = own ?? (typeOfFrame(channel) === undefined ? null : anyData)
  if (!check) return { kind: 'unknown', channel }
  const invalid = check(value)
  if (invalid === null) return { kind: 'frame', frame: value as KnownFrame }
  return { kind: 'malformed', reason: `${channel}: ${invalid} is invalid` }
}
