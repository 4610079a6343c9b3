// What people read about a channel, in the published documents and tables, derived from its definition.

import { formatCredits } from '../../core/amount.ts'
import { type AnyChannel, minutePrice, type Wanted } from '../../relay/channel.ts'

const EXAMPLE_BOOK = {
  coin: 'BTC',
  time: 1789999999930,
  height: 700000000,
  levels: '[[{"px":"81307.0","sz":"0.2","n":1},{"px":"81306.0","sz":"1.5","n":4}],[{"px":"81310.0","sz":"0.7","n":3}]]',
}

const EXAMPLE_PLACE = { height: 700000000, time: 1789999999930, epoch: '5f0c1d9e-3a52-4c39-9d5f-0b8d6f7a1c11' }

/** What it costs, with the price of a wildcard where it has one. */
export function minutePriceText(channel: AnyChannel): string {
  if (typeof channel.price !== 'function') return `${priceAt(channel, channel.example.request)} a minute`
  return `${priceAt(channel, { coin: 'BTC' })} a coin and minute, ${priceAt(channel, {})} a minute without \`coin\``
}

/** Where its data come from, and what it is asked by. */
export function channelSourceText(channel: AnyChannel): string {
  if (channel.source === 'books') return 'books, by coin or market type'
  if (channel.source === 'views') return `books${channel.by === null ? '' : `, by ${channel.by}`}`
  if (channel.source === 'states') {
    return `info, read again every few seconds${'user' in channel.example.request ? ' and after events of the user' : ''}`
  }
  if (channel.source === 'l4') return 'orders, by coin'
  return `events of each block${channel.by === null ? '' : `, by ${channel.by}`}`
}

/** What comes before the first change. */
export function snapshotText(channel: AnyChannel): string {
  if (channel.source === 'books') return channel.snapshot ? 'a Snapshot of each coin' : 'none'
  if (channel.source === 'states') return 'what is now'
  if (channel.source === 'l4') return 'a Snapshot'
  if (channel.source === 'views' || channel.late === 'candles') return 'the present state'
  return channel.past ? 'what was before' : 'none'
}

/** Frames that an example request may bring, the first one first. */
export function exampleFrames(channel: AnyChannel): readonly unknown[] {
  const { frame } = channel.example
  const snapshot = channel.source === 'books' ? channel.snapshot?.(EXAMPLE_BOOK) : null
  const orders = channel.source === 'l4' ? channel.snapshot('BTC', EXAMPLE_PLACE, ['[[],[]]']) : null
  const first = snapshot ?? orders
  return first ? [JSON.parse(first), frame] : [frame]
}

function priceAt(channel: AnyChannel, request: object): string {
  const body = channel.request.parse({ type: channel.type, ...request })
  return formatCredits(minutePrice({ source: channel.source, channel, body } as Wanted))
}
