// Follows live books and prints each coin's mid and spread, at most once a second. The client package
// pings, reconnects with backoff, resubscribes, fetches a snapshot, and reports when a book is out of sync.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/spread.ts BTC ETH

import { Big } from 'big.js'
// In your own project, import from '@weir/client' and '@weir/client/books'.
import type { Book } from '../src/client/api.ts'
import { openBooks } from '../src/client/books.client.ts'
import { createClient } from '../src/client/create-client.client.ts'

const PRINT_EVERY_MS = 1000

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const coins = process.argv.slice(2)
if (!url || !key || coins.length === 0) {
  console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/spread.ts COIN…')
  process.exit(2)
}

const printedMs = new Map<string, number>()
const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
// A reader that has seen enough, such as `head`, closes the pipe.
process.stdout.on('error', () => process.exit(0))
const client = createClient({
  url,
  key,
  signal: ended.signal,
  onNotice: (text) => console.error(text),
  onState: (state) => {
    if (state.state === 'waiting') console.error(`not connected: ${state.reason}; retrying`)
  },
})

for await (const event of openBooks(client, coins)) {
  if (event.type === 'book') print(event.book)
  else if (event.type === 'gap') console.error(`${event.coin} is out of sync (${event.gap.reason})`)
  else if (event.type === 'unknown') console.error(`unknown coin: ${event.coin}`)
  else if (event.type === 'end' && event.end.code !== 'aborted') {
    console.error(`the gateway rejected the subscription: ${event.end.message}`)
    process.exitCode = 1
  }
}
client.close()

/** Prices are decimal strings: exact arithmetic, no floats. */
function print(book: Book): void {
  const now = Date.now()
  if (now - (printedMs.get(book.coin) ?? 0) < PRINT_EVERY_MS) return
  const [[bid], [ask]] = book.levels(1)
  if (!bid || !ask) return
  printedMs.set(book.coin, now)
  const spread = new Big(ask.px).minus(bid.px)
  const mid = new Big(bid.px).plus(ask.px).div(2)
  const basisPoints = spread.div(mid).times(10_000).toFixed(2)
  console.log(`${book.coin} mid ${mid.toFixed()} spread ${spread.toFixed()} (${basisPoints} bp) height ${book.height}`)
}
