// What people read about a channel, in the published documents and tables, derived from its definition.

import { formatCredits } from '../credit/amount.ts'
import { type AnyChannel, minutePrice, type Wanted } from '../stream/channel.ts'

/** What it costs, with the price of a wildcard where it has one. */
export function minutePriceText(channel: AnyChannel): string {
  if (channel.source !== 'books') return `${priceAt(channel, channel.example.request)} a minute`
  return `${priceAt(channel, { coin: 'BTC' })} a coin and minute, ${priceAt(channel, {})} a minute without \`coin\``
}

/** Where its data come from, and what it is asked by. */
export function channelSourceText(channel: AnyChannel): string {
  return channel.source === 'books' ? 'books, by coin or market type' : `events of each block, by ${channel.by}`
}

/** What comes before the first change. */
export function snapshotText(channel: AnyChannel): string {
  return channel.source === 'books' && channel.snapshot ? 'a Snapshot of each coin' : 'none'
}

function priceAt(channel: AnyChannel, request: object): string {
  const body = channel.request.parse({ type: channel.type, ...request })
  return formatCredits(minutePrice({ source: channel.source, channel, body } as Wanted))
}
