// Measures how well passive orders would have filled. It replays archived trades and books of one coin. Every ten seconds of data, it
// joins the best bid and the best ask with small orders, at the end of the queue. It follows them until they fill or time out. For each side it prints the share that filled, the wait, and the move of the mid after a fill.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/fill-quality.ts BTC 2026-11-28T12:00Z 2026-11-28T13:00Z

// In your own project, import from '@weir/client'.
import { createClient } from '../src/client/create-client.client.ts'

const QUOTE_EVERY_MS = 10_000
const TIMEOUT_MS = 60_000
/** The mid is compared with the fill price this long after a fill. */
const MARKOUT_MS = 5_000

type Side = 'B' | 'A'
/** Floats are precise enough for statistics. Use decimals for money. */
export type Trade = { time: number; px: number; sz: number; side: Side }
type Level = { px: string; sz: string; n: number }
type Levels = readonly [bids: readonly Level[], asks: readonly Level[]]
/** `ahead`: size before the order in the queue of its level. */
type Quote = { side: Side; px: number; ahead: number; time: number }
type Fill = Quote & { filledAt: number; markoutBps: number | null }

export type Quality = { quotes: number; fills: Fill[]; timeouts: number }

/**
 * The orders are small and never move the market. Size that leaves a level without a trade is assumed to leave from
 * behind the order, until the level is smaller than the queue ahead. That is the cautious assumption.
 */
export class PassiveOrders {
  readonly result: Quality = { quotes: 0, fills: [], timeouts: 0 }
  readonly #sides: Record<Side, Map<number, number>> = { B: new Map(), A: new Map() }
  #open: Quote[] = []
  /** Fills whose markout is not due yet. */
  #unmarked: Fill[] = []
  #nextQuoteAt = Number.NEGATIVE_INFINITY

  /** Replaces the book, or drops it with null because it is unknown. Then open orders are dropped as well. */
  reset(levels: Levels | null, time: number): void {
    for (const side of ['B', 'A'] as const) this.#sides[side].clear()
    if (levels) return this.change(levels, time)
    this.result.quotes -= this.#open.length
    this.#open = []
    this.#unmarked = []
  }

  /** Applies the changes of one block. */
  change([bids, asks]: Levels, time: number): void {
    const apply = (side: Side, { px, sz, n }: Level) =>
      n === 0 ? this.#sides[side].delete(Number(px)) : this.#sides[side].set(Number(px), Number(sz))
    for (const level of bids) apply('B', level)
    for (const level of asks) apply('A', level)
    this.#mark(time)
    for (const quote of this.#open) quote.ahead = Math.min(quote.ahead, this.#sides[quote.side].get(quote.px) ?? 0)
    this.#open = this.#open.filter((quote) => {
      const isOver = time - quote.time > TIMEOUT_MS
      if (isOver) this.result.timeouts++
      return !isOver
    })
    if (time >= this.#nextQuoteAt) this.#quote(time)
  }

  /** A trade of the next block. `side` is that of the taker. */
  trade({ time, px, sz, side }: Trade): void {
    this.#open = this.#open.filter((quote) => {
      if (quote.side === side) return true
      const isThrough = side === 'A' ? px < quote.px : px > quote.px
      if (px === quote.px) quote.ahead -= sz
      const isFilled = isThrough || (px === quote.px && quote.ahead < 0)
      if (isFilled) this.#fill(quote, time)
      return !isFilled
    })
  }

  #fill(quote: Quote, time: number): void {
    const fill = { ...quote, filledAt: time, markoutBps: null }
    this.result.fills.push(fill)
    this.#unmarked.push(fill)
  }

  #quote(time: number): void {
    this.#nextQuoteAt = time + QUOTE_EVERY_MS
    for (const side of ['B', 'A'] as const) {
      const px = this.#best(side)
      if (px === null) continue
      this.#open.push({ side, px, ahead: this.#sides[side].get(px) ?? 0, time })
      this.result.quotes++
    }
  }

  /** A markout is positive if the market moved in favor of the order. */
  #mark(time: number): void {
    if (this.#unmarked.every(({ filledAt }) => time - filledAt < MARKOUT_MS)) return
    const bid = this.#best('B')
    const ask = this.#best('A')
    if (bid === null || ask === null) return
    this.#unmarked = this.#unmarked.filter((fill) => {
      if (time - fill.filledAt < MARKOUT_MS) return true
      const move = ((bid + ask) / 2 / fill.px - 1) * 10_000
      fill.markoutBps = fill.side === 'B' ? move : -move
      return false
    })
  }

  #best(side: Side): number | null {
    const prices = [...this.#sides[side].keys()]
    if (prices.length === 0) return null
    return side === 'B' ? prices.reduce((a, b) => Math.max(a, b)) : prices.reduce((a, b) => Math.min(a, b))
  }
}

async function main(coin: string, fromTime: number, toTime: number): Promise<void> {
  const { WEIR_URL: url = '', WEIR_KEY: key = '' } = process.env
  const client = createClient({ url, key })
  const range = { fromTime, toTime, speed: 'max' } as const
  // Two replays advance independently, so the trades are read first. A busy day has some hundred thousand.
  const trades: Trade[] = []
  for await (const event of client.replay({ type: 'trades', coin }, range)) {
    if (event.type === 'data')
      for (const { time, px, sz, side } of event.frame.data) trades.push({ time, px: Number(px), sz: Number(sz), side })
    if (event.type === 'end' && event.end.code !== 'finished') throw new Error(event.end.message)
  }
  const orders = new PassiveOrders()
  let next = 0
  const tradeUntil = (time: number) => {
    for (let trade = trades[next]; trade && trade.time <= time; trade = trades[++next]) orders.trade(trade)
  }
  for await (const event of client.replay({ type: 'l2BookDiff', coin }, range)) {
    if (event.type === 'gap') orders.reset(null, 0)
    if (event.type === 'end' && event.end.code !== 'finished') throw new Error(event.end.message)
    if (event.type !== 'data') continue
    const { data } = event.frame
    if ('Snapshot' in data) {
      const { levels, time } = data.Snapshot
      tradeUntil(time)
      orders.reset(levels, time)
    } else {
      const { book_diffs, time } = data.Updates
      tradeUntil(time)
      for (const { levels } of book_diffs) orders.change(levels, time)
    }
  }
  client.close()
  report(orders.result, trades.length)
}

function report({ quotes, fills, timeouts }: Quality, trades: number): void {
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
  console.log(`${trades} trades, ${quotes} orders, ${timeouts} timeouts`)
  for (const side of ['B', 'A'] as const) {
    const own = fills.filter((fill) => fill.side === side)
    const wait = median(own.map(({ filledAt, time }) => filledAt - time))
    const marks = own.flatMap(({ markoutBps }) => markoutBps ?? [])
    const mean = marks.reduce((sum, one) => sum + one, 0) / marks.length
    const details = own.length === 0 ? '' : `, median wait ${wait} ms, mean move after 5 s ${mean.toFixed(2)} bp`
    console.log(`${side === 'B' ? 'bids' : 'asks'}: ${own.length} filled${details}`)
  }
}

if (import.meta.main) {
  const { WEIR_URL, WEIR_KEY } = process.env
  const [coin, from, to, ...more] = process.argv.slice(2)
  const times = [from, to].map((text) => Date.parse(text ?? ''))
  const [fromTime = Number.NaN, toTime = Number.NaN] = times
  if (!WEIR_URL || !WEIR_KEY || !coin || times.some(Number.isNaN) || more.length > 0) {
    console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/fill-quality.ts COIN FROM TO')
    process.exit(1)
  }
  await main(coin, fromTime, toTime).catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
