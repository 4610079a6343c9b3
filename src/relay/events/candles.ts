// The running candles that somebody wants. A candle begins with what info knows of it, and goes on with the trades of
// blocks. Laws: nothing is shown before it holds what was before; an answer that says of which block it is holds no other
// trades; any other is the last word where no trade came around it, else it may lack or repeat the trades of two seconds, until
// the candle's end; one is shown at most once a second, and with its last state when the next begins.

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

/** One view for each interval. */
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
/** A source may be so late: what was traded within it may be in an answer, or not. */
const LAG_MS = 2_000
/** Where trades never pause, the last answer is taken as it is. */
const MAX_TRIES = 3
/** Questions under way at once. */
const MAX_IN_FLIGHT = 8

interface BlockTrade {
  readonly height: number
  readonly trade: Trade
}

interface RunningCandle {
  readonly interval: Interval
  readonly coin: Coin
  candle: Candle | null
  /** Trades since it was wanted; null while info is not to be asked. */
  pendingTrades: BlockTrade[] | null
  /** Of the first block that may be in them. */
  firstHeight: number
  /** It has the trades up to this block out of an answer. */
  includedHeight: number
  tries: number
  isFetching: boolean
  /** It holds what was before it was wanted, or that cannot be had. */
  hasHistory: boolean
  isChanged: boolean
  fetchedMs: number
  /** Of the last trade; trades before it was wanted may have come until then. */
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

  /** Somebody wants one: it is shown with the next block, whether it changes or not. */
  onSubscribe({ channel, body }: EventsTarget): void {
    if (channel.fetched !== 'candles') return
    const { interval, coin } = body as Pick<RunningCandle, 'interval' | 'coin'>
    const running = this.#running.get(keyOf(interval, coin))
    if (running) Object.assign(running, { isChanged: running.candle !== null, sentMs: Number.NEGATIVE_INFINITY })
  }

  /** Resolves when the questions that this block made due were answered. Never rejects. */
  async onBlock(block: RelayEvents): Promise<void> {
    // Trades were lost, of candles that began meanwhile, too: all begin anew.
    if (this.#height !== -1 && block.height !== this.#height + 1) this.#running.clear()
    this.#height = block.height
    const target = INTERVALS.flatMap((interval) =>
      this.#fanout.namesOf(CANDLE_VIEWS[interval]).map((coin) => this.#candleOf(interval, coin, block)),
    )
    if (this.#running.size > target.length) this.#forget(new Set(target))
    if (target.length === 0) return
    const trades = Map.groupBy(tradesOf(block.fills), ({ coin }) => coin)
    const candles = target.flatMap((running) => applyTrades(running, trades.get(running.coin) ?? [], block))
    if (candles.length > 0) this.#fanout.deliverFetched(block, { candles })
    await Promise.all(target.map((running) => this.#fetch(running, block.time)))
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

  #forget(target: ReadonlySet<RunningCandle>): void {
    for (const [key, running] of this.#running) if (!target.has(running)) this.#running.delete(key)
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
    const answer = await this.#ports.read({ type: 'candleSnapshot', req }).catch(() => null)
    this.#inFlight--
    running.isFetching = false
    // A candle that began meanwhile is known whole.
    if (running.pendingTrades !== pendingTrades) return
    // Who does not answer has not said that there is nothing: the next answer is to have all trades until now.
    if (answer === null) return void Object.assign(running, { pendingTrades: [], firstHeight: this.#height + 1 })
    running.tries++
    const found = newestCandle(answer.body)
    const { height = Number.NEGATIVE_INFINITY } = answer
    const isOfBlock = height >= running.firstHeight - 1
    if (isOfBlock) running.includedHeight = height
    const isSure = isOfBlock || (isQuiet && pendingTrades.length === before)
    const later = isOfBlock
      ? pendingTrades.filter(({ height }) => height > running.includedHeight)
      : pendingTrades.slice(before)
    applyResponse(running, found, later, isSure)
    if (isSure || running.tries >= MAX_TRIES) running.pendingTrades = null
    running.hasHistory = true
  }
}

/** Takes what info has found, and the trades behind it. */
function applyResponse(
  running: RunningCandle,
  found: Candle | null,
  later: readonly BlockTrade[],
  isSure: boolean,
): void {
  const { candle, interval } = running
  if (!found || (candle && candle.t > found.t)) return
  const next = later.reduce((so, { trade }) => withTrade(so, interval, trade), found)
  // Of two that may lack trades the one with more lacks fewer.
  if (candle?.t === next.t && candle.n > next.n && !isSure) return
  running.isChanged = running.isChanged || JSON.stringify(next) !== JSON.stringify(candle)
  running.candle = next
}

/** Takes the trades of a block; answers what is to be shown. */
function applyTrades(
  running: RunningCandle,
  trades: readonly Trade[],
  { height, time: timeMs }: RelayEvents,
): Candle[] {
  const shown: Candle[] = []
  for (const trade of height > running.includedHeight ? trades : []) {
    const before = running.candle
    running.candle = withTrade(before, running.interval, trade)
    running.pendingTrades?.push({ height, trade })
    if (before && before.t !== running.candle.t) {
      if (running.hasHistory && running.isChanged) shown.push(before)
      // All of its trades came in blocks.
      Object.assign(running, { pendingTrades: null, hasHistory: true, sentMs: Number.NEGATIVE_INFINITY })
    }
    running.isChanged = true
    running.lastTradeMs = timeMs
  }
  const isDue = timeMs < running.sentMs || timeMs - running.sentMs >= SEND_EVERY_MS
  if (!running.candle || !running.hasHistory || !running.isChanged || !isDue) return shown
  running.isChanged = false
  running.sentMs = timeMs
  return [...shown, running.candle]
}

/** The newest candle of an answer; null where there is none. */
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
