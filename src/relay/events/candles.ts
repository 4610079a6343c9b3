// The running candles that somebody wants. A candle begins with what info knows of it, and goes on with the trades of
// blocks. Laws: nothing is shown before it holds what was before; an answer that says of which block it is holds no other
// trades; any other is the last word where no trade came around it, else it may lack or repeat the trades of two seconds, until
// the candle's end; one is shown at most once a second, and with its last state when the next begins.

import { type Candle, spanOf, withTrade } from '../../archive/candles.ts'
import { INTERVALS, type Interval } from '../../core/candle-interval.ts'
import type { Coin } from '../../core/coin.ts'
import { entryOf } from '../../core/entry-of.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import { type Trade, tradesOf } from '../../protocol/feed/trades.ts'
import type { EventView, WantedEvents } from '../channel.ts'
import type { EventFanout } from './event-fanout.ts'
import type { FirstFramePorts } from './first-frames.ts'
import type { Receiver } from './parcels.ts'

/** One view for each interval. */
export const CANDLE_VIEWS = Object.fromEntries(
  INTERVALS.map((interval): [Interval, EventView<Candle>] => [
    interval,
    {
      items: ({ late }) => ((late?.candles ?? []) as readonly Candle[]).filter(({ i }) => i === interval),
      text: JSON.stringify,
    },
  ]),
) as Readonly<Record<Interval, EventView<Candle>>>

const EVERY_MS = 1_000
/** A source may be so late: what was traded within it may be in an answer, or not. */
const LAG_MS = 2_000
/** Where trades never pause, the last answer is taken as it is. */
const TRIES = 3
/** Questions under way at once. */
const LANES = 8

interface Traded {
  readonly height: number
  readonly trade: Trade
}

interface Running {
  readonly interval: Interval
  readonly coin: Coin
  candle: Candle | null
  /** Trades since it was wanted; null while info is not to be asked. */
  since: Traded[] | null
  /** Of the first block that may be in them. */
  sinceHeight: number
  /** It has the trades up to this block out of an answer. */
  through: number
  tries: number
  isAsking: boolean
  /** It holds what was before it was wanted, or that cannot be had. */
  isKnown: boolean
  isChanged: boolean
  askedMs: number
  /** Of the last trade; trades before it was wanted may have come until then. */
  tradedMs: number
  toldMs: number
}

export class Candles<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  readonly #running = new Map<string, Running>()
  #asking = 0
  #height = -1

  constructor(ports: FirstFramePorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Somebody wants one: it is shown with the next block, whether it changes or not. */
  joined({ channel, body }: WantedEvents): void {
    if (channel.late !== 'candles') return
    const { interval, coin } = body as Pick<Running, 'interval' | 'coin'>
    const running = this.#running.get(keyOf(interval, coin))
    if (running) Object.assign(running, { isChanged: running.candle !== null, toldMs: Number.NEGATIVE_INFINITY })
  }

  /** Resolves when the questions that this block made due were answered. Never rejects. */
  async follow(block: RelayEvents): Promise<void> {
    // Trades were lost, of candles that began meanwhile, too: all begin anew.
    if (this.#height !== -1 && block.height !== this.#height + 1) this.#running.clear()
    this.#height = block.height
    const wanted = INTERVALS.flatMap((interval) =>
      this.#fanout.namesOf(CANDLE_VIEWS[interval]).map((coin) => this.#of(interval, coin, block)),
    )
    if (this.#running.size > wanted.length) this.#forget(new Set(wanted))
    if (wanted.length === 0) return
    const trades = Map.groupBy(tradesOf(block.fills), ({ coin }) => coin)
    const candles = wanted.flatMap((running) => fold(running, trades.get(running.coin) ?? [], block))
    if (candles.length > 0) this.#fanout.deliverLate(block, { candles })
    await Promise.all(wanted.map((running) => this.#ask(running, block.time)))
  }

  #of(interval: Interval, coin: Coin, { height, time: timeMs }: RelayEvents): Running {
    return entryOf(this.#running, keyOf(interval, coin), () => ({
      interval,
      coin,
      candle: null,
      since: [],
      tries: 0,
      isAsking: false,
      isKnown: false,
      isChanged: false,
      askedMs: Number.NEGATIVE_INFINITY,
      tradedMs: timeMs,
      toldMs: Number.NEGATIVE_INFINITY,
      sinceHeight: height,
      through: -1,
    }))
  }

  #forget(wanted: ReadonlySet<Running>): void {
    for (const [key, running] of this.#running) if (!wanted.has(running)) this.#running.delete(key)
  }

  async #ask(running: Running, timeMs: number): Promise<void> {
    const { interval, coin, since } = running
    const isEarly = timeMs >= running.askedMs && timeMs - running.askedMs < LAG_MS
    if (since === null || running.isAsking || isEarly || this.#asking >= LANES) return
    const isQuiet = timeMs - running.tradedMs >= LAG_MS
    const before = since.length
    running.isAsking = true
    running.askedMs = timeMs
    this.#asking++
    const req = { coin, interval, startTime: spanOf(interval, timeMs).t }
    const answer = await this.#ports.read({ type: 'candleSnapshot', req }).catch(() => null)
    this.#asking--
    running.isAsking = false
    // A candle that began meanwhile is known whole.
    if (running.since !== since) return
    // Who does not answer has not said that there is nothing: the next answer is to have all trades until now.
    if (answer === null) return void Object.assign(running, { since: [], sinceHeight: this.#height + 1 })
    running.tries++
    const found = lastOf(answer.body)
    const { height = Number.NEGATIVE_INFINITY } = answer
    const isOfBlock = height >= running.sinceHeight - 1
    if (isOfBlock) running.through = height
    const isSure = isOfBlock || (isQuiet && since.length === before)
    const later = isOfBlock ? since.filter(({ height }) => height > running.through) : since.slice(before)
    take(running, found, later, isSure)
    if (isSure || running.tries >= TRIES) running.since = null
    running.isKnown = true
  }
}

/** Takes what info has found, and the trades behind it. */
function take(running: Running, found: Candle | null, later: readonly Traded[], isSure: boolean): void {
  const { candle, interval } = running
  if (!found || (candle && candle.t > found.t)) return
  const next = later.reduce((so, { trade }) => withTrade(so, interval, trade), found)
  // Of two that may lack trades the one with more lacks fewer.
  if (candle?.t === next.t && candle.n > next.n && !isSure) return
  running.isChanged = running.isChanged || JSON.stringify(next) !== JSON.stringify(candle)
  running.candle = next
}

/** Takes the trades of a block; answers what is to be shown. */
function fold(running: Running, trades: readonly Trade[], { height, time: timeMs }: RelayEvents): Candle[] {
  const shown: Candle[] = []
  for (const trade of height > running.through ? trades : []) {
    const before = running.candle
    running.candle = withTrade(before, running.interval, trade)
    running.since?.push({ height, trade })
    if (before && before.t !== running.candle.t) {
      if (running.isKnown && running.isChanged) shown.push(before)
      // All of its trades came in blocks.
      Object.assign(running, { since: null, isKnown: true, toldMs: Number.NEGATIVE_INFINITY })
    }
    running.isChanged = true
    running.tradedMs = timeMs
  }
  const isDue = timeMs < running.toldMs || timeMs - running.toldMs >= EVERY_MS
  if (!running.candle || !running.isKnown || !running.isChanged || !isDue) return shown
  running.isChanged = false
  running.toldMs = timeMs
  return [...shown, running.candle]
}

/** The newest candle of an answer; null where there is none. */
function lastOf(body: string): Candle | null {
  try {
    return (JSON.parse(body) as Candle[]).at(-1) ?? null
  } catch {
    return null
  }
}

function keyOf(interval: Interval, coin: Coin): string {
  return `${interval} ${coin}`
}
