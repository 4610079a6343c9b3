// Follows live books and prints each coin's mid and spread, at most once a second. The client library does the hard part:
// it pings, reconnects with backoff, subscribes again, fetches a snapshot, and says when a book is out of step.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/spread.ts BTC ETH

import { Big } from 'big.js'
import type { CoinBook } from '../src/client/bootstrap.ts'
import { Connection } from '../src/client/connection.ts'
import { DiffBooks } from '../src/client/diff-books.ts'
import { nodeRuntime } from '../src/client/node-runtime.node.ts'

const PRINT_EVERY_MS = 1000

const { WEIR_URL: url = 'http://127.0.0.1:8787', WEIR_KEY: key } = process.env
const coins = process.argv.slice(2)
if (!key || coins.length === 0) {
  console.error('Usage: WEIR_KEY=<key> [WEIR_URL=http://127.0.0.1:8787] npx node examples/spread.ts COIN…')
  process.exit(1)
}

const runtime = nodeRuntime()
const connection = new Connection(runtime, {
  endpoint: () => ({ url, key }),
  onState: (state) => {
    if (state.state === 'waiting') console.error(`not connected: ${state.reason}; trying again`)
    // A wrong key, or no credits: no retry mends it.
    if (state.state === 'fatal') {
      console.error(`the gateway refuses: ${state.reason}`)
      process.exitCode = 1
    }
  },
  onNotice: (text) => console.error(text),
})

let isEnding = false
const printedMs = new Map<string, number>()
new DiffBooks(
  connection,
  runtime,
  { coin: coins },
  {
    changed: print,
    gap: (coin, reason) => {
      if (!isEnding) console.error(`${coin} is out of step (${reason}); its book is fetched again`)
    },
    unknown: (coin) => console.error(`there is no coin ${coin}`),
    refused: (reason) => console.error(reason),
  },
)
connection.start()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isEnding = true
    connection.close()
  })
// A reader that has seen enough, such as `head`, closes the pipe.
process.stdout.on('error', () => process.exit(0))

/** Prices are decimal strings: exact arithmetic, no floats. */
function print(book: CoinBook): void {
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
