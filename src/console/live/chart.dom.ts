// Draws candles with the chart library, which is loaded on first use. Invariant: the library adds no inline styles and
// sends nothing to its makers, which is why its own logo is off.

import type { IChartApi, ISeriesApi, UTCTimestamp } from 'lightweight-charts'
import type { ChartCandle } from './candles.ts'
import { priceDecimals, priceText } from './formats.ts'

/** Older candles are fetched when fewer than this many remain to the left. */
const PREFETCH_CANDLES = 30

const chartTime = (ms: number) => Math.floor(ms / 1_000) as UTCTimestamp

interface ChartEvents {
  readonly onNearStart: () => void
  /** Open time of the candle below the pointer; null if there is none. */
  readonly onPointer: (timeMs: number | null) => void
}

/** An empty chart that fills `element`. */
export async function openChart(element: HTMLElement, { onNearStart, onPointer }: ChartEvents) {
  const { CandlestickSeries, createChart, HistogramSeries } = await import('lightweight-charts')
  const chart = createChart(element, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: 11 },
    // Some browsers report locales that date formatting rejects; times are UTC in any case.
    localization: { locale: 'en-GB', priceFormatter: priceText },
    timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 4, maxBarSpacing: 12 },
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
  chart.subscribeCrosshairMove(({ time }) => onPointer(typeof time === 'number' ? time * 1_000 : null))
  let decimals = -1
  let count = 0
  return {
    show: (all: readonly ChartCandle[]) => {
      const last = all.at(-1)
      count = all.length
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
    /** Shows the newest candles; few of them fill the chart. */
    toEnd: () => {
      const scale = chart.timeScale()
      if (count * scale.options().barSpacing < scale.width()) scale.fitContent()
      else scale.scrollToRealTime()
    },
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
