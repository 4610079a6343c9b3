// The candles of the market: live, or during a replay those of its time. The newest page is loaded first, older pages on
// scrolling back. Invariant: no candle of a replay contains trades after its time.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { spanOf } from '../../archive/candles.ts'
import { reasonOf } from '../../client/subscription.ts'
import { INTERVALS, type Interval } from '../../core/candle-interval.ts'
import { fetchCandles } from './candle-pages.dom.ts'
import {
  type ChartCandle,
  candlesOfTrades,
  EMPTY_PAGES_MAX,
  foldedCandle,
  mergeCandles,
  pageBefore,
  parseCandle,
} from './candles.ts'
import { openChart } from './chart.dom.ts'
import { compactText, priceText } from './formats.ts'
import { clock, coin, connection, interval, replayRun, selectInterval } from './live-page.dom.ts'
import type { MarketReplay } from './market-replay.ts'
import { Panel, PanelSelect, screenReaderText } from './panel.tsx'
import type { WireTrade } from './recent.ts'
import { pageNow } from './runtime.dom.ts'
import * as strings from './strings.ts'

const chartError = signal<string | null>(null)
/** The candle below the pointer, otherwise the last one. */
const legend = signal<ChartCandle | null>(null)

export function ChartPanel() {
  const container = useRef<HTMLDivElement>(null)
  const name = coin.value
  const length = interval.value
  const run = replayRun.value
  useEffect(() => {
    if (name === null || !container.current) return undefined
    return run ? replayCandles(container.current, name, length, run) : followCandles(container.current, name, length)
  }, [name, length, run])
  return (
    <Panel
      name="chart"
      title={strings.chartTitle}
      head={
        <>
          <PanelSelect
            label={screenReaderText(strings.chartInterval)}
            value={length}
            options={INTERVALS}
            onSelect={selectInterval}
          />
          <a class="credit" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
            TradingView Lightweight Charts™
          </a>
        </>
      }
    >
      <div class="chart-body">
        <div
          class="chart-place"
          ref={container}
          role="img"
          aria-label={strings.chartLabel(name ?? strings.chartNoMarket, length)}
        />
        <Legend />
        {chartError.value && <p class="blank">{chartError.value}</p>}
      </div>
    </Panel>
  )
}

function Legend() {
  const shown = legend.value
  if (shown === null) return null
  const { open, high, low, close, volume } = shown
  return (
    <p class={`legend ${close >= open ? 'bid' : 'ask'}`} aria-hidden="true">
      {strings.chartPrices([open, high, low, close].map(priceText))}
      <span class="volume">{strings.chartVolume(compactText(volume))}</span>
    </p>
  )
}

const now = () => Math.floor(clock.now(pageNow()))

/** A chart in `container` with pages of candles, the newest of which ends at `endMs()`. */
function candleView(container: HTMLElement, name: string, length: Interval, endMs: () => number) {
  let candles: ChartCandle[] = []
  let chart: Awaited<ReturnType<typeof openChart>> | null = null
  let isLoading = false
  let empty = 0
  let isOver = false
  let isShown = false
  legend.value = null

  const show = () => {
    chart?.show(candles)
    if (!isShown && candles.length > 0) chart?.toEnd()
    isShown = chart !== null && candles.length > 0
    legend.value = candles.at(-1) ?? null
  }
  const load = async (window: ReturnType<typeof pageBefore>, isOlder: boolean) => {
    isLoading = true
    const result = await fetchCandles(name, length, window)
    isLoading = false
    if (isOver) return
    chartError.value = result.ok || result.isRetryable ? null : strings.chartFailed(result.reason)
    if (!result.ok) return
    const before = candles.length
    candles = mergeCandles(candles, result.candles)
    empty = isOlder && candles.length === before ? empty + 1 : 0
    show()
  }
  const older = () => {
    if (!isLoading && !isOver && empty < EMPTY_PAGES_MAX) void load(pageBefore(candles, length, endMs()), true)
  }
  openChart(container, {
    onNearStart: older,
    onPointer: (timeMs) => {
      legend.value = candles.find(({ time }) => time === timeMs) ?? candles.at(-1) ?? null
    },
  })
    .then((opened) => {
      if (isOver) return opened.remove()
      chart = opened
      show()
    })
    .catch(() => {
      chartError.value = strings.chartNotLoaded
    })
  return {
    last: () => candles.at(-1),
    isClosed: () => isOver,
    /** Loads the newest page, or after an interruption the missed candles. */
    newest: () => {
      const page = pageBefore([], length, endMs())
      return load({ ...page, startTime: candles.at(-1)?.time ?? page.startTime }, false)
    },
    /** Updates the last candle or appends newer ones, oldest first. */
    add: (newer: readonly ChartCandle[]) => {
      candles = mergeCandles(candles, newer)
      for (const candle of newer) chart?.update(candle)
      legend.value = candles.at(-1) ?? null
    },
    close: () => {
      isOver = true
      chart?.remove()
    },
  }
}

/** Shows the candles of a market up to now; returns the function that stops it. */
function followCandles(container: HTMLElement, name: string, length: Interval): () => void {
  const view = candleView(container, name, length, now)
  const leave = connection.subscribe(
    { type: 'candle', interval: length, coin: name },
    {
      live: () => void view.newest(),
      refused: (reason) => {
        chartError.value = strings.chartFailed(reasonOf(reason))
      },
      frame: (frame) => {
        const candle = frame.channel === 'candle' ? parseCandle(frame.data) : null
        if (candle && candle.time >= (view.last()?.time ?? 0)) view.add([candle])
      },
    },
  )
  return () => {
    leave()
    view.close()
  }
}

interface ReplayRun {
  readonly past: MarketReplay
  readonly fromMs: number
}

/** Shows the candles before a replay, and then those of its trades; returns the function that stops it. */
function replayCandles(container: HTMLElement, name: string, length: Interval, { past, fromMs }: ReplayRun) {
  const startMs = spanOf(length, fromMs).t
  const view = candleView(container, name, length, () => startMs - 1)
  let waiting: WireTrade[] | null = []
  past.onTrades = (trades) => {
    if (waiting) waiting.push(...trades)
    else view.add(candlesOfTrades(view.last(), trades, length))
  }
  const begin = async () => {
    await view.newest()
    // The candle at the start, from the minutes before it.
    const endTime = spanOf('1m', fromMs).t - 1
    const minutes = endTime > startMs ? await fetchCandles(name, '1m', { startTime: startMs, endTime }) : null
    if (view.isClosed()) return
    const begun = minutes?.ok ? foldedCandle(startMs, minutes.candles) : null
    if (begun) view.add([begun])
    view.add(candlesOfTrades(view.last(), waiting ?? [], length))
    waiting = null
  }
  void begin()
  return () => {
    past.onTrades = null
    view.close()
  }
}
