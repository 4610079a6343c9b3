// Candles of the market: the newest page first, older pages on scrolling back, and updates of the current candle. The chart
// library is loaded on first use. Invariant: the library adds no inline styles and sends nothing to its makers, which is why
// its own logo is off.

import { signal } from '@preact/signals'
import type { IChartApi, ISeriesApi, UTCTimestamp } from 'lightweight-charts'
import { useEffect, useRef } from 'preact/hooks'
import { reasonOf } from '../../client/subscription.ts'
import { INTERVALS, type Interval } from '../../core/candle-interval.ts'
import { type ChartCandle, EMPTY_PAGES_MAX, mergeCandles, pageBefore, parseCandle, type WireCandle } from './candles.ts'
import { priceDecimals } from './formats.ts'
import { clock, coin, connection, interval, replay, requestInfo, selectInterval } from './live-page.dom.ts'
import { Panel, PanelSelect, screenReaderText } from './panel.tsx'
import { pageNow } from './runtime.dom.ts'
import * as strings from './strings.ts'

const chartError = signal<string | null>(null)

export function ChartPanel() {
  const container = useRef<HTMLDivElement>(null)
  const name = coin.value
  const length = interval.value
  useEffect(() => {
    if (name === null || !container.current) return undefined
    return followCandles(container.current, name, length)
  }, [name, length])
  return (
    <Panel
      name="chart"
      title={
        <>
          {strings.chartTitle}
          {replay.value && <small>{strings.chartLive}</small>}
        </>
      }
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
      <div
        class="chart-place"
        ref={container}
        role="img"
        aria-label={strings.chartLabel(name ?? strings.chartNoMarket, length)}
      />
      {chartError.value && <p class="foot">{chartError.value}</p>}
    </Panel>
  )
}

const now = () => Math.floor(clock.now(pageNow()))

/** Shows the candles of a market in `container`; returns the function that stops it. */
function followCandles(container: HTMLElement, name: string, length: Interval): () => void {
  let candles: ChartCandle[] = []
  let chart: Awaited<ReturnType<typeof openChart>> | null = null
  let isLoading = false
  let empty = 0
  let isOver = false
  let isShown = false

  const load = async (window: ReturnType<typeof pageBefore>, isOlder: boolean) => {
    isLoading = true
    const result = await requestInfo({ type: 'candleSnapshot', req: { coin: name, interval: length, ...window } })
    isLoading = false
    if (isOver) return
    chartError.value = result.ok || result.isRetryable ? null : strings.chartFailed(result.reason)
    if (!result.ok) return
    const rows = Array.isArray(result.value) ? (result.value as WireCandle[]) : []
    const before = candles.length
    candles = mergeCandles(
      candles,
      rows.map(parseCandle).filter((one) => one !== null),
    )
    empty = isOlder && candles.length === before ? empty + 1 : 0
    chart?.show(candles)
    if (!isShown) chart?.toEnd()
    isShown = true
  }
  const older = () => {
    if (!isLoading && !isOver && empty < EMPTY_PAGES_MAX) void load(pageBefore(candles, length, now()), true)
  }
  /** Loads the newest page, or after an interruption the missed candles. */
  const newest = () => {
    const page = pageBefore([], length, now())
    void load({ ...page, startTime: candles.at(-1)?.time ?? page.startTime }, false)
  }

  const leave = connection.subscribe(
    { type: 'candle', interval: length, coin: name },
    {
      live: newest,
      refused: (reason) => {
        chartError.value = strings.chartFailed(reasonOf(reason))
      },
      frame: (frame) => {
        const candle = frame.channel === 'candle' ? parseCandle(frame.data) : null
        if (!candle) return
        const last = candles.at(-1)
        if (last && candle.time < last.time) return
        candles = mergeCandles(candles, [candle])
        chart?.update(candle)
      },
    },
  )
  openChart(container, older)
    .then((opened) => {
      if (isOver) return opened.remove()
      chart = opened
      chart.show(candles)
    })
    .catch(() => {
      chartError.value = strings.chartNotLoaded
    })
  return () => {
    isOver = true
    leave()
    chart?.remove()
  }
}

/** Older candles are fetched when fewer than this many remain to the left. */
const PREFETCH_CANDLES = 30

const chartTime = (ms: number) => Math.floor(ms / 1_000) as UTCTimestamp

async function openChart(element: HTMLElement, onNearStart: () => void) {
  const { CandlestickSeries, createChart, HistogramSeries } = await import('lightweight-charts')
  const chart = createChart(element, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: 11 },
    // Some browsers report locales that date formatting rejects; times are UTC in any case.
    localization: { locale: 'en-GB' },
    timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 4 },
  })
  const candles = chart.addSeries(CandlestickSeries, { borderVisible: false })
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: 'volume',
    priceFormat: { type: 'volume' },
    lastValueVisible: false,
    priceLineVisible: false,
  })
  chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.85, bottom: 0 } })
  const paint = () => applyColors(element, chart, candles, volumes)
  paint()
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', paint)
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range && range.from < PREFETCH_CANDLES) onNearStart()
  })
  let decimals = -1
  return {
    show: (all: readonly ChartCandle[]) => {
      const last = all.at(-1)
      if (last && priceDecimals(last.close) !== decimals) {
        decimals = priceDecimals(last.close)
        const minMove = Number((10 ** -decimals).toFixed(decimals))
        candles.applyOptions({ priceFormat: { type: 'price', precision: decimals, minMove } })
      }
      candles.setData(all.map(({ time, ...rest }) => ({ time: chartTime(time), ...rest })))
      volumes.setData(all.map(({ time, volume }) => ({ time: chartTime(time), value: volume })))
    },
    /** Updates the last candle or appends a new one. */
    update: ({ time, volume, ...rest }: ChartCandle) => {
      candles.update({ time: chartTime(time), ...rest })
      volumes.update({ time: chartTime(time), value: volume })
    },
    toEnd: () => chart.timeScale().scrollToRealTime(),
    remove: () => {
      scheme.removeEventListener('change', paint)
      chart.remove()
    },
  }
}

/** Reads colors from the CSS classes of the page, in the current color scheme. */
function applyColors(
  element: HTMLElement,
  chart: IChartApi,
  candles: ISeriesApi<'Candlestick'>,
  volumes: ISeriesApi<'Histogram'>,
): void {
  const of = (name: string) => {
    const probe = element.ownerDocument.createElement('i')
    probe.className = name
    element.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
  const up = of('bid')
  const down = of('ask')
  const soft = of('soft')
  const line = of('rule')
  chart.applyOptions({
    layout: { background: { color: 'transparent' }, textColor: soft },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line },
    timeScale: { borderColor: line },
  })
  candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down })
  volumes.applyOptions({ color: line })
}
