// Backtests the market maker's rules on archived trades and books, with its place in the queue of each level. It prints the
// profit after fees, the position, the drawdown and the quality of the fills. The same range gives the same numbers.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/backtest.ts BTC 2026-11-28T12:00Z 2026-11-28T13:00Z

import { parseArgs } from 'node:util'
// In your own project, import from '@weir/client'.
import { createClient, type WeirClient } from '../src/client/create-client.client.ts'
import { Backtester } from './trading/backtester.ts'
import { fetchMarket } from './trading/market.ts'
import type { Trade } from './trading/paper-exchange.ts'

const USAGE = `Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/backtest.ts COIN FROM TO [options]
  FROM, TO            times in ISO 8601, such as 2026-11-28T12:00Z
  --spread BP         distance of a quote from the fair price, in basis points (5)
  --size USD          size of a quote (100)
  --max-position USD  largest position (1000)
  --fee BP            maker fee (1.5)
  --latency MS        time until an order or a cancel takes effect (300)`
/** Trades and books of one part are read one after the other, so a part limits the memory. */
const PART_MS = 3_600_000
/** Default prices of a minute of trades and of a minute of the book of one coin. */
const CREDITS_PER_MINUTE = 1.13
const DEFAULTS = { spread: '5', size: '100', 'max-position': '1000', fee: '1.5', latency: '300' }

type Settings = { coin: string; fromTime: number; toTime: number; numbers: Record<string, number> }

/** Null if the arguments are invalid. */
function settingsOf(args: string[]): Settings | null {
  const options = Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, value]) => [name, { type: 'string' as const, default: value }]),
  )
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [coin, from, to, ...more] = positionals
    if (!coin || !from || !to || more.length > 0) return null
    const fromTime = Date.parse(from)
    const toTime = Date.parse(to)
    if (!(fromTime < toTime)) throw new Error('FROM and TO: use two times in ISO 8601, the earlier one first')
    const numbers = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]))
    const wrong = Object.keys(numbers).find((name) => !(numbers[name]! > 0) && !['fee', 'latency'].includes(name))
    if (wrong !== undefined) throw new Error(`--${wrong}: use a positive number`)
    if (Number.isNaN(numbers.fee) || !(numbers.latency! >= 0)) throw new Error('--fee and --latency: use numbers')
    if (numbers['max-position']! < numbers.size!) throw new Error('--max-position: use at least --size')
    return { coin, fromTime, toTime, numbers }
  } catch (error) {
    console.error((error as Error).message)
    return null
  }
}

async function run(client: WeirClient, { coin, fromTime, toTime, numbers }: Settings): Promise<void> {
  // One more for the steps of prices and sizes.
  const credits = Math.ceil((toTime - fromTime) / 60_000) * CREDITS_PER_MINUTE + 1
  console.error(`The replay costs ${credits.toFixed(2)} credits at the default prices.`)
  const market = await fetchMarket(client, coin)
  const { spread, size, fee, latency } = numbers as Record<keyof typeof DEFAULTS, number>
  const test = new Backtester(
    {
      market,
      halfSpreadBp: spread,
      toleranceBp: spread / 4,
      quoteUsd: size,
      maxPositionUsd: numbers['max-position']!,
      // A replay has no age: the rules see each block when it was made.
      maxAgeMs: Number.POSITIVE_INFINITY,
    },
    { latencyMs: latency, feeBp: fee },
  )
  for (let from = fromTime; from <= toTime; from += PART_MS)
    await playPart(client, coin, from, Math.min(from + PART_MS - 1, toTime), test)
  print(coin, test)
  console.log(`cost: ${credits.toFixed(2)} credits at the default prices`)
}

async function playPart(client: WeirClient, coin: string, fromTime: number, toTime: number, test: Backtester) {
  const range = { fromTime, toTime, speed: 'max' } as const
  // Two replays advance independently, so the trades are read first. A busy hour has some ten thousand.
  const trades: Trade[] = []
  for await (const event of client.replay({ type: 'trades', coin }, range)) {
    if (event.type === 'data') trades.push(...event.frame.data)
    if (event.type === 'end' && event.end.code !== 'finished') throw new Error(event.end.message)
  }
  let next = 0
  const tradeUntil = (time: number) => {
    for (let trade = trades[next]; trade && trade.time <= time; trade = trades[++next]) test.trade(trade)
  }
  for await (const event of client.replay({ type: 'l2BookDiff', coin }, range)) {
    if (event.type === 'gap') test.gap()
    if (event.type === 'end' && event.end.code !== 'finished') throw new Error(event.end.message)
    if (event.type !== 'data') continue
    const { data } = event.frame
    const { time } = 'Snapshot' in data ? data.Snapshot : data.Updates
    tradeUntil(time)
    if ('Snapshot' in data) test.snapshot(data.Snapshot.levels, time)
    else for (const { levels } of data.Updates.book_diffs) test.change(levels, time)
  }
  tradeUntil(toTime)
}

function print(coin: string, test: Backtester): void {
  const { exchange, mid, volume, largestPosition, gaps, trades } = test
  const { placed, filled, rejected, fills } = exchange.counts
  const { maxDrawdown, minutes, meanPerMinute, perDay } = test.curve.result
  const { medianWaitMs, moveBp } = test.quality.result
  const shown = (value: number | null, digits: number, unit = '') =>
    value === null ? 'unknown' : `${value.toFixed(digits)}${unit}`
  console.log(`market: ${trades} trades, ${gaps} gaps`)
  console.log(`orders: ${placed}, ${filled} filled, ${rejected} rejected as taker orders`)
  console.log(`fills: ${fills}, volume ${volume.toFixed(2)} dollars, fees ${exchange.fees.toFixed(4)} dollars`)
  console.log(`profit after fees: ${exchange.pnl(mid).toFixed(4)} dollars, with the position at the mid price`)
  console.log(`position: ${exchange.position.toFixed()} ${coin}, at most ${largestPosition.toFixed()}`)
  console.log(`largest drawdown: ${maxDrawdown.toFixed(4)} dollars`)
  console.log(
    `per minute: mean profit ${shown(meanPerMinute, 6, ' dollars')} over ${minutes} minutes, ` +
      `mean / deviation × √1440: ${shown(perDay, 2)}`,
  )
  console.log(
    `quality: median wait ${shown(medianWaitMs, 0, ' ms')}, mean move 5 s after a fill ${shown(moveBp, 2, ' bp')}`,
  )
}

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const settings = settingsOf(process.argv.slice(2))
if (!url || !key || !settings) {
  console.error(USAGE)
  process.exit(2)
}
const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
const client = createClient({ url, key, signal: ended.signal })
await run(client, settings).catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
client.close()
