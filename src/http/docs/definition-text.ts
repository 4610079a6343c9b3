// Describes queries and channels in the published documents and tables. The descriptions are derived from the
// definitions.

import * as z from 'zod'
import { formatCredits } from '../../core/amount.ts'
import { termsOf } from '../../info/freshness.ts'
import { type AnyQuery, priceOf, usesHistory, usesUpstream } from '../../info/query.ts'
import { type AnyChannel, minutePrice, type Target } from '../../relay/channel.ts'

const EXAMPLE_BOOK = {
  coin: 'BTC',
  time: 1789999999930,
  height: 700000000,
  levels: '[[{"px":"81307.0","sz":"0.2","n":1},{"px":"81306.0","sz":"1.5","n":4}],[{"px":"81310.0","sz":"0.7","n":3}]]',
}

const EXAMPLE_POSITION = { height: 700000000, time: 1789999999930, epoch: '5f0c1d9e-3a52-4c39-9d5f-0b8d6f7a1c11' }

/** Price per minute, including the price without `coin` if that is different. */
export function minutePriceText(channel: AnyChannel): string {
  if (typeof channel.price !== 'function') return `${priceAt(channel, channel.example.request)} per minute`
  return `${priceAt(channel, { coin: 'BTC' })} per coin per minute, ${priceAt(channel, {})} per minute without \`coin\``
}

/** Data source of a channel and its selector. */
export function channelSourceText(channel: AnyChannel): string {
  if (channel.source === 'books') return 'books, by coin or market type'
  if (channel.source === 'views') return `books${channel.by === null ? '' : `, by ${channel.by}`}`
  if (channel.source === 'states') {
    return `info, polled every few seconds${'user' in channel.example.request ? ' and after each event of the user' : ''}`
  }
  if (channel.source === 'l4') return 'orders, by coin'
  return `events of each block${channel.by === null ? '' : `, by ${channel.by}`}`
}

/** Content of the initial snapshot. */
export function snapshotText(channel: AnyChannel): string {
  if (channel.source === 'books') return channel.snapshot ? 'a Snapshot of each coin' : 'none'
  if (channel.source === 'states') return 'current state'
  if (channel.source === 'l4') return 'a Snapshot'
  if (channel.source === 'views' || channel.fetched === 'candles') return 'current state'
  return channel.history ? 'recent history' : 'none'
}

/** Example frames of a subscription, in order. */
export function exampleFrames(channel: AnyChannel): readonly unknown[] {
  const { frame } = channel.example
  const snapshot = channel.source === 'books' ? channel.snapshot?.(EXAMPLE_BOOK) : null
  const orders = channel.source === 'l4' ? channel.snapshot('BTC', EXAMPLE_POSITION, ['[[],[]]']) : null
  const first = snapshot ?? orders
  return first ? [JSON.parse(first), frame] : [frame]
}

function priceAt(channel: AnyChannel, request: object): string {
  const body = channel.request.parse({ type: channel.type, ...request })
  return formatCredits(minutePrice({ source: channel.source, channel, body } as Target))
}

/** Source of a query's responses. */
export function sourceText(query: AnyQuery): string {
  if (usesUpstream(query)) return usesHistory(query) ? 'own history, then upstream' : 'upstream'
  return usesHistory(query) ? 'own history' : 'own books'
}

/** Maximum age of a query's responses. */
export function freshnessText({ freshness }: AnyQuery): string {
  const { freshMs, revalidateMs } = termsOf(freshness)
  if (freshness.class === 'none') return 'current state, never cached'
  if (freshMs === 0) return 'fetched on every call'
  const age = freshMs < 1_000 ? `${freshMs} ms` : `${freshMs / 1_000} s`
  return revalidateMs > 0 ? `${age}, then stale while revalidating` : `at most ${age}`
}

/** Request fields except `type`, optional ones with a question mark; `none` if there are none. */
export function fieldsText({ request }: AnyQuery): string {
  return fieldsOf(z.toJSONSchema(request, { io: 'input' })) || 'none'
}

function fieldsOf({ properties = {}, required = [] }: z.core.JSONSchema.BaseSchema): string {
  return Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, field]) => {
      const inner = typeof field === 'object' && field.properties ? ` of ${fieldsOf(field)}` : ''
      return `\`${name}${required.includes(name) ? '' : '?'}\`${inner}`
    })
    .join(', ')
}

/**
 * Request fields that can raise the price. For each: a value that raises it, and the text that follows the higher
 * price.
 */
const PRICED_FIELDS: Readonly<Record<string, readonly [value: unknown, text: string]>> = {
  dex: ['ALL_DEXES', 'flat if `dex` is `*` or `ALL_DEXES`'],
  block_height: [1, 'with `block_height`'],
  height: [1, 'with `height`'],
  time: [1, 'with `time`'],
}

/** Price in credits, including the higher prices that request fields cause. */
export function priceText(query: AnyQuery): string {
  if (typeof query.price === 'number') return formatCredits(query.price)
  const priceAt = (more: object) =>
    formatCredits(priceOf(query, query.request.parse({ ...query.example.request, ...more, type: query.type })))
  const { properties = {} } = z.toJSONSchema(query.request, { io: 'input' })
  const higher = Object.entries(PRICED_FIELDS)
    .filter(([field]) => field in properties)
    .map(([field, [value, text]]) => `${priceAt({ [field]: value })} ${text}`)
  return [priceAt({}), ...higher].join(', ')
}
