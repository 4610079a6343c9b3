// The chart of candles, over lightweight-charts, which is loaded when it is first needed. Laws: nothing of it is inline and
// nothing is told to its makers (its own logo does both, and is off); its colours are those of the page.

import type { IChartApi, ISeriesApi, UTCTimestamp } from 'lightweight-charts'
import type { ChartCandle } from './candles.ts'
import { priceDecimals } from './formats.ts'

export interface PriceChart {
  /** All candles, oldest first. */
  show(candles: readonly ChartCandle[]): void
  /** The last one changed, or one follows it. */
  update(candle: ChartCandle): void
  /** Shows the newest again. */
  toEnd(): void
  remove(): void
}

/** So many candles before the first that is there, more are fetched. */
const NEAR = 30

const at = (ms: number) => Math.floor(ms / 1_000) as UTCTimestamp

export async function openChart(element: HTMLElement, onNearStart: () => void): Promise<PriceChart> {
  const { CandlestickSeries, createChart, HistogramSeries } = await import('lightweight-charts')
  const chart = createChart(element, {
    autoSize: true,
    layout: { attributionLogo: false, fontSize: 11 },
    // Some browsers name languages that dates cannot be written in, and times are UTC in any.
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
  const paint = () => colour(element, chart, candles, volumes)
  paint()
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', paint)
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range && range.from < NEAR) onNearStart()
  })
  let decimals = -1
  return {
    show: (all) => {
      const last = all.at(-1)
      if (last && priceDecimals(last.close) !== decimals) {
        decimals = priceDecimals(last.close)
        const minMove = Number((10 ** -decimals).toFixed(decimals))
        candles.applyOptions({ priceFormat: { type: 'price', precision: decimals, minMove } })
      }
      candles.setData(all.map(({ time, ...rest }) => ({ time: at(time), ...rest })))
      volumes.setData(all.map(({ time, volume }) => ({ time: at(time), value: volume })))
    },
    update: ({ time, volume, ...rest }) => {
      candles.update({ time: at(time), ...rest })
      volumes.update({ time: at(time), value: volume })
    },
    toEnd: () => chart.timeScale().scrollToRealTime(),
    remove: () => {
      scheme.removeEventListener('change', paint)
      chart.remove()
    },
  }
}

/** Colours as the page's style gives them to these names, in the scheme of the moment. */
function colour(
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
