// candles: each candle once, when a block shows that it has closed. These are one-minute candles of every coin, or the
// candles that the filter names. Invariant: candles that touch a gap, or that were open when the pipeline started, are
// omitted, until the gap is repaired.

import { type CandlePart, candleOf, mergeParts, partOf, spanOf, validTrades } from '../../archive/candles.ts'
import type { Interval } from '../../core/candle-interval.ts'
import type { Coin } from '../../core/coin.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventsTarget, Target } from '../../relay/channel.ts'
import { keyedRows, type TopicDefinition, type TopicFold } from './topic.ts'

interface State {
  readonly interval: Interval
  /** Null for all coins. */
  readonly coin: Coin | null
  /** Candles that start at or after this time are complete; null until the next block sets it. */
  readonly wholeMs: number | null
  readonly open: Readonly<Record<string, CandlePart>>
}

export const candles: TopicDefinition = {
  lines: 'events',
  columns: [
    { name: 'coin', type: 'text' },
    { name: 'interval', type: 'text' },
    { name: 'time', type: 'time' },
    { name: 'end_time', type: 'time' },
    ...['open', 'close', 'high', 'low', 'volume'].map((name) => ({ name, type: 'text' }) as const),
    { name: 'trades', type: 'whole' },
  ],
  // Reading ends with the candle that is open after the repaired heights.
  reread: {
    fromMs: (target, timeMs) => spanOf(selected(target).interval, timeMs).t,
    maxAfterMs: Number.POSITIVE_INFINITY,
    lasting: (state) => state,
  },
  open(target, before): TopicFold<RelayEvents> {
    const { interval, coin } = selected(target)
    const { wholeMs, open } = restoreState(before, interval, coin)
    const running = new Map(Object.entries(open))
    let whole = wholeMs
    return {
      parse: (line) => JSON.parse(line) as RelayEvents,
      rows: (block) => {
        whole ??= block.time
        const { t: now } = spanOf(interval, block.time)
        // Candles before this one are over.
        whole = Math.max(whole, now)
        const over = [...running].filter(([, { t }]) => t < now)
        for (const [name] of over) running.delete(name)
        for (const trade of validTrades(block.fills)) {
          const part = partOf(trade, interval)
          // A trade in a closed minute means that the clock was set back.
          if (part.t < whole || (coin !== null && trade.coin !== coin)) continue
          const known = running.get(trade.coin)
          running.set(trade.coin, known?.t === part.t ? mergeParts(known, part) : part)
        }
        return keyedRows(
          block,
          over.map(([name, part]) => rowOf(name, interval, part)),
        )
      },
      onGap: () => {
        running.clear()
        whole = null
      },
      state: () =>
        JSON.stringify({ interval, coin, wholeMs: whole, open: Object.fromEntries(running) } satisfies State),
    }
  },
}

/** The interval and coin of a filter; null for all coins. */
function selected(target: Target | null): Pick<State, 'interval' | 'coin'> {
  const body = (target as EventsTarget | null)?.body as { coin: Coin; interval: Interval } | undefined
  return { interval: body?.interval ?? '1m', coin: body?.coin ?? null }
}

/** State of a different interval or coin cannot be reused. */
function restoreState(before: string | null, interval: Interval, coin: Coin | null): State {
  const state = before === null ? null : (JSON.parse(before) as State)
  const isOwn = state?.interval === interval && state.coin === coin
  return isOwn ? state : { interval, coin, wholeMs: null, open: {} }
}

function rowOf(coin: Coin, interval: Interval, part: CandlePart) {
  const { t, T, o, c, h, l, v, n } = candleOf(part, coin, interval)
  const prices = { open: o, close: c, high: h, low: l, volume: v }
  return [`${coin}:${interval}:${t}`, { coin, interval, time: t, end_time: T, ...prices, trades: n }] as const
}
