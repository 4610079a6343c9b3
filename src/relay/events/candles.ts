// Current candles that have subscribers. Each starts from an info response and continues with the trades of blocks.
// Invariants: nothing is sent before the history is included; a response that names its block is combined only with
// later trades; any other response is exact if no trade came close to it, otherwise the candle may miss or repeat two
// seconds of trades until it ends; a candle is sent at most once a second, and once more when the next one starts.

import { type Candle, spanOf, withTrade } from '../../archive/candles.ts'
import { INTERVALS, type Interval } from '../../core/candle-interval.ts'
import type { Coin } from '../../core/coin.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { type Trade, tradesOf } from '../../protocol/feed/trades.ts'
import type { EventsTarget, EventView } from '../channel.ts'
import type { EventFanout } from './event-fanout.ts'
import type { Receiver } from './event-frames.ts'
import type { FirstFramePorts } from './first-frames.ts'

export const CANDLE_VIEWS = Object.fromEntries(
  INTERVALS.map((interval): [Interval, EventView<Candle>] => [
    interval,
    {
      items: ({ fetched }) => ((fetched?.candles ?? []) as readonly Candle[]).filter(({ i }) => i === interval),
      text: JSON.stringify,
    },
  ]),
) as Readonly<Record<Interval, EventView<Candle>>>

const SEND_EVERY_MS = 1_000
/** Maximum lag of a source. Trades within it may or may not be in a response. */
const LAG_MS = 2_000
/** If trades never pause, the last response is accepted. */
const MAX_TRIES = 3
/** Concurrent info requests. */
const MAX_IN_FLIGHT = 8

interface BlockTrade {
  readonly height: number
  readonly trade: Trade
}

interface RunningCandle {
  readonly interval: Interval
  readonly coin: Coin
  candle: Candle | null
  /** Trades since the first subscription; null if info is no longer needed. */
  pendingTrades: BlockTrade[] | null
  /** Height of the first block whose trades may be in `pendingTrades`. */
  firstHeight: number
  /** Trades up to this block are already in the response. */
  includedHeight: number
  tries: number
  isFetching: boolean
  /** True once the candle includes the earlier trades, or once these turned out to be unavailable. */
  hasHistory: boolean
  isChanged: boolean
  fetchedMs: number
  /**
   * Time of the last trade. Initially the time of the first subscription, because there may have been trades until
   * then.
   */
  lastTradeMs: number
  sentMs: number
}

export class Candles<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #running = new Map<string, RunningCandle>()
  #inFlight = 0
  #height = -1

  constructor(ports: FirstFramePorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Sends a subscribed candle with the next block, changed or not. */
  onSubscribe({ channel, body }: EventsTarget): void {
    if (channel.fetched !== 'candles') return
    const { interval, coin } = body as Pick<RunningCandle, 'interval' | 'coin'>
    const running = this.#running.get(keyOf(interval, coin))
    if (running) Object.assign(running, { isChanged: running.candle !== null, sentMs: Number.NEGATIVE_INFINITY })
  }

  /** Resolves when the requests triggered by this block are done. Never rejects. */
  async onBlock(block: RelayEvents): Promise<void> {
    // Trades were lost, perhaps also trades of candles that started in the lost blocks. So all candles start over.
    if (this.#height !== -1 && block.height !== this.#height + 1) this.#running.clear()
    this.#height = block.height
    const candlesInUse = INTERVALS.flatMap((interval) =>
      this.#fanout.namesOf(CANDLE_VIEWS[interval]).map((coin) => this.#candleOf(interval, coin, block)),
    )
    if (this.#running.size > candlesInUse.length) this.#forget(new Set(candlesInUse))
    if (candlesInUse.length === 0) return
    const trades = Map.groupBy(tradesOf(block.fills), ({ coin }) => coin)
    const candles = candlesInUse.flatMap((running) => applyTrades(running, trades.get(running.coin) ?? [], block))
    if (candles.length > 0) this.#fanout.deliverFetched(block, { candles })
    await Promise.all(candlesInUse.map((running) => this.#fetch(running, block.time)))
  }

  #candleOf(interval: Interval, coin: Coin, { height, time: timeMs }: RelayEvents): RunningCandle {
    return getOrCreate(this.#running, keyOf(interval, coin), () => ({
      interval,
      coin,
      candle: null,
      pendingTrades: [],
      tries: 0,
      isFetching: false,
      hasHistory: false,
      isChanged: false,
      fetchedMs: Number.NEGATIVE_INFINITY,
      lastTradeMs: timeMs,
      sentMs: Number.NEGATIVE_INFINITY,
      firstHeight: height,
      includedHeight: -1,
    }))
  }

  #forget(candlesInUse: ReadonlySet<RunningCandle>): void {
    for (const [key, running] of this.#running) if (!candlesInUse.has(running)) this.#running.delete(key)
  }

  async #fetch(running: RunningCandle, timeMs: number): Promise<void> {
    const { interval, coin, pendingTrades } = running
    const isEarly = timeMs >= running.fetchedMs && timeMs - running.fetchedMs < LAG_MS
    if (pendingTrades === null || running.isFetching || isEarly || this.#inFlight >= MAX_IN_FLIGHT) return
    const isQuiet = timeMs - running.lastTradeMs >= LAG_MS
    const before = pendingTrades.length
    running.isFetching = true
    running.fetchedMs = timeMs
    this.#inFlight++
    const req = { coin, interval, startTime: spanOf(interval, timeMs).t }
    const reply = await this.#ports.read({ type: 'candleSnapshot', req }).catch(() => null)
    this.#inFlight--
    running.isFetching = false
    // If the next candle started during the request, all of its trades came in blocks.
    if (running.pendingTrades !== pendingTrades) return
    // A missing response differs from an empty one. The next response must include all trades until now.
    if (reply === null) return void Object.assign(running, { pendingTrades: [], firstHeight: this.#height + 1 })
    running.tries++
    const response = newestCandle(reply.body)
    const { height = Number.NEGATIVE_INFINITY } = reply
    const isOfBlock = height >= running.firstHeight - 1
    if (isOfBlock) running.includedHeight = height
    const isSure = isOfBlock || (isQuiet && pendingTrades.length === before)
    const laterTrades = isOfBlock
      ? pendingTrades.filter(({ height }) => height > running.includedHeight)
      : pendingTrades.slice(before)
    applyResponse(running, response, laterTrades, isSure)
    if (isSure || running.tries >= MAX_TRIES) running.pendingTrades = null
    running.hasHistory = true
  }
}

/** Combines a response with the trades after it. */
function applyResponse(
  running: RunningCandle,
  response: Candle | null,
  laterTrades: readonly BlockTrade[],
  isSure: boolean,
): void {
  const { candle, interval } = running
  if (!response || (candle && candle.t > response.t)) return
  const next = laterTrades.reduce((so, { trade }) => withTrade(so, interval, trade), response)
  // If both candles may lack trades, the candle with more trades lacks fewer.
  if (candle?.t === next.t && candle.n > next.n && !isSure) return
  running.isChanged = running.isChanged || JSON.stringify(next) !== JSON.stringify(candle)
  running.candle = next
}

/** Adds the trades of a block and returns the candles to send. */
function applyTrades(
  running: RunningCandle,
  trades: readonly Trade[],
  { height, time: timeMs }: RelayEvents,
): Candle[] {
  const due: Candle[] = []
  for (const trade of height > running.includedHeight ? trades : []) {
    const before = running.candle
    running.candle = withTrade(before, running.interval, trade)
    running.pendingTrades?.push({ height, trade })
    if (before && before.t !== running.candle.t) {
      if (running.hasHistory && running.isChanged) due.push(before)
      // All trades of this candle came in blocks.
      Object.assign(running, { pendingTrades: null, hasHistory: true, sentMs: Number.NEGATIVE_INFINITY })
    }
    running.isChanged = true
    running.lastTradeMs = timeMs
  }
  const isDue = timeMs < running.sentMs || timeMs - running.sentMs >= SEND_EVERY_MS
  if (!running.candle || !running.hasHistory || !running.isChanged || !isDue) return due
  running.isChanged = false
  running.sentMs = timeMs
  return [...due, running.candle]
}

/** The newest candle of a response; null if there is none. */
function newestCandle(body: string): Candle | null {
  try {
    return (JSON.parse(body) as Candle[]).at(-1) ?? null
  } catch {
    return null
  }
}

function keyOf(interval: Interval, coin: Coin): string {
  return `${interval} ${coin}`
}
