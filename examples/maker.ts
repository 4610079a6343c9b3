// A market maker on paper: quotes both sides of a coin around its verified book, and cancels every quote when the book is
// unverified, disconnected or late. It prints its orders, fills and profit. To trade, replace `PaperExchange` by a
// `Venue` of your own (trading/venue.ts).
// Run with WEIR_URL and WEIR_KEY set: npx node examples/maker.ts BTC --max-age 2000

import { parseArgs } from 'node:util'
import { Big } from 'big.js'
// In your own project, import from '@weir/client' and '@weir/client/books'.
import { openBooks } from '../src/client/books.client.ts'
import { createClient } from '../src/client/create-client.client.ts'
import { fetchMarket } from './trading/market.ts'
import { PaperExchange } from './trading/paper-exchange.ts'
import { Quoter } from './trading/quoter.ts'
import { type Reading, ServerClock } from './trading/server-clock.ts'
import { type Venue, viewOf } from './trading/venue.ts'

const USAGE = `Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/maker.ts COIN [options]
  --max-age MS        cancel all quotes when the last change of the book is older (2000); more for quiet coins
  --spread BP         distance of a quote from the fair price, in basis points (5)
  --size USD          size of a quote (100)
  --max-position USD  largest position (1000)
  --fee BP            maker fee (1.5)`
/** Levels per side in which the paper exchange finds its quotes. */
const DEPTH = 200
const CLOCK_EVERY_MS = 30_000
/** The exchange's own latency and the way to it, roughly. */
const LATENCY_MS = 300

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const { coin, numbers } = settingsOf(process.argv.slice(2))
if (!url || !key || !coin) {
  console.error(USAGE)
  process.exit(2)
}

/** Without a coin if the arguments are invalid. */
function settingsOf(args: string[]): { coin?: string | undefined; numbers: Record<string, number> } {
  const defaults = { 'max-age': '2000', spread: '5', size: '100', 'max-position': '1000', fee: '1.5' }
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, { type: 'string' as const, default: value }]),
  )
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const numbers = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]))
    const wrong = Object.keys(numbers).find((name) => !(numbers[name]! > 0) && name !== 'fee')
    if (wrong !== undefined || Number.isNaN(numbers.fee)) throw new Error(`--${wrong ?? 'fee'}: use a positive number`)
    if (numbers['max-position']! < numbers.size!) throw new Error('--max-position: use at least --size')
    return { coin: positionals.length === 1 ? positionals[0] : undefined, numbers }
  } catch (error) {
    console.error((error as Error).message)
    return { numbers: {} }
  }
}

const ended = new AbortController()
const client = createClient({ url, key, signal: ended.signal, onNotice: (text) => console.error(text) })
const clock = new ServerClock()
const reading = (): Reading => ({ steady: performance.now(), wall: Date.now() })
const now = () => clock.now(reading())

/** Creating a stream token is free, and the reply has the gateway's time. */
async function measureClock(): Promise<void> {
  const sent = reading()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: '{"minutes":1}', signal: AbortSignal.timeout(5_000) }
  const response = await fetch(`${url}/platform/stream-tokens`, request)
  const { data, error_message: problem } = (await response.json()) as {
    data?: { time: number }
    error_message?: string
  }
  if (!data) throw new Error(problem ?? `HTTP ${response.status}`)
  clock.measure(sent, data.time)
}

const market = await Promise.all([fetchMarket(client, coin), measureClock()]).then(
  ([found]) => found,
  (error: Error) => {
    console.error(error.message)
    process.exit(1)
  },
)

const exchange = new PaperExchange(
  { latencyMs: LATENCY_MS, feeBp: numbers.fee! },
  ({ side, sz, px }) => console.log(`fill: ${side === 'B' ? 'bought' : 'sold'} ${sz} at ${px}. ${summary()}`),
  (id) => quoter.gone(id),
)
const venue: Venue = {
  place(order) {
    exchange.place(order)
    console.log(`place: ${order.side === 'B' ? 'bid' : 'ask'} ${order.id} ${order.sz} at ${order.px}`)
  },
  cancel(id) {
    exchange.cancel(id)
    console.log(`cancel: ${id}`)
  },
  cancelAll(why) {
    exchange.cancelAll()
    console.log(`pull: ${why}`)
  },
}
const quoter = new Quoter(venue, {
  market,
  halfSpreadBp: numbers.spread!,
  toleranceBp: numbers.spread! / 4,
  quoteUsd: numbers.size!,
  maxPositionUsd: numbers['max-position']!,
  maxAgeMs: numbers['max-age']!,
})

let mid = new Big(0)
const summary = () => `Position ${exchange.position.toFixed()}, profit ${exchange.pnl(mid).toFixed(2)} dollars`

let late: ReturnType<typeof setTimeout> | undefined
const armTimer = () => {
  clearTimeout(late)
  const waitMs = quoter.lateAt - now()
  if (Number.isFinite(waitMs)) late = setTimeout(() => quoter.tick(now()), Math.max(0, waitMs))
}

// Listeners, because a loop would first finish what it is doing.
openBooks(client, coin, {}, (event) => {
  if (event.type === 'book') {
    const view = viewOf(event.book.levels(DEPTH))
    const bid = view.best('B')
    const ask = view.best('A')
    if (bid && ask) mid = new Big(bid.px).plus(ask.px).div(2)
    // First the decision about the quotes, then the bookkeeping.
    quoter.book(view, event.book.time, now(), exchange.position)
    exchange.book(view, event.book.time)
    armTimer()
  } else if (event.type === 'step' && event.step !== 'in step') quoter.lost(event.why || event.step)
  else if (event.type === 'unknown') quoter.lost(`${coin} has no book`)
  else if (event.type === 'end') stop(event.end.message, ['closed', 'aborted'].includes(event.end.code) ? 0 : 1)
})
client.on({ type: 'trades', coin }, (event) => {
  if (event.type === 'data') for (const trade of event.frame.data) exchange.trade(trade)
  if (event.type === 'gap') console.error(`trades may be missing, and so may fills: ${event.gap.reason}`)
})
const measuring = setInterval(
  () => measureClock().catch((error: Error) => console.error(`the gateway's time is unknown: ${error.message}`)),
  CLOCK_EVERY_MS,
)

let isStopped = false
function stop(why: string, code: number): void {
  if (isStopped) return
  isStopped = true
  quoter.lost(why)
  clearTimeout(late)
  clearInterval(measuring)
  ended.abort()
  const { placed, fills, filled, rejected } = exchange.counts
  console.log(`end: ${placed} orders, ${filled} filled in ${fills} fills, ${rejected} rejected.`)
  console.log(`end: ${summary()} after ${exchange.fees.toFixed(2)} dollars of fees`)
  if (code !== 0) console.error(why)
  process.exitCode = code
}
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop('the program was stopped', 0))
