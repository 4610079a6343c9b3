// Candles of the market: the newest page first, older ones as the visitor scrolls back, the running one as it changes. The chart
// is lightweight-charts, which is loaded when it is first needed. Invariants: nothing of it is inline and nothing is told to
// its makers (its own logo does both, and is off); its colors are those of the page.

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

const chartError = signal<string | null>(null)

export function ChartPanel() {
  const place = useRef<HTMLDivElement>(null)
  const name = coin.value
  const length = interval.value
  useEffect(() => {
    if (name === null || !place.current) return undefined
    return followCandles(place.current, name, length)
  }, [name, length])
  return (
    <Panel
      name="chart"
      title={<>Candles{replay.value && <small> of now</small>}</>}
      head={
        <>
          <PanelSelect
            label={screenReaderText('Interval')}
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
      <div class="chart-place" ref={place} role="img" aria-label={`Candles of ${name ?? 'no market'}, ${length}`} />
      {chartError.value && <p class="foot">{chartError.value}</p>}
    </Panel>
  )
}

const now = () => Math.floor(clock.now(pageNow()))

/** Shows a market's candles in `place`; the answer ends that. */
function followCandles(place: HTMLElement, name: string, length: Interval): () => void {
  let held: ChartCandle[] = []
  let chart: Awaited<ReturnType<typeof openChart>> | null = null
  let isLoading = false
  let empty = 0
  let isOver = false
  let isShown = false

  const load = async (window: ReturnType<typeof pageBefore>, isOlder: boolean) => {
    isLoading = true
    const answer = await requestInfo({ type: 'candleSnapshot', req: { coin: name, interval: length, ...window } })
    isLoading = false
    if (isOver) return
    chartError.value = answer.ok || answer.isRetryable ? null : `Candles: ${answer.reason}`
    if (!answer.ok) return
    const rows = Array.isArray(answer.value) ? (answer.value as WireCandle[]) : []
    const before = held.length
    held = mergeCandles(
      held,
      rows.map(parseCandle).filter((one) => one !== null),
    )
    empty = isOlder && held.length === before ? empty + 1 : 0
    chart?.show(held)
    if (!isShown) chart?.toEnd()
    isShown = true
  }
  const older = () => {
    if (!isLoading && !isOver && empty < EMPTY_PAGES_MAX) void load(pageBefore(held, length, now()), true)
  }
  /** After an interruption what it has missed, at first the newest page. */
  const newest = () => {
    const page = pageBefore([], length, now())
    void load({ ...page, startTime: held.at(-1)?.time ?? page.startTime }, false)
  }

  const leave = connection.subscribe(
    { type: 'candle', interval: length, coin: name },
    {
      live: newest,
      refused: (reason) => {
        chartError.value = `Candles: ${reasonOf(reason)}`
      },
      frame: (frame) => {
        const candle = frame.channel === 'candle' ? parseCandle(frame.data) : null
        if (!candle) return
        const last = held.at(-1)
        if (last && candle.time < last.time) return
        held = mergeCandles(held, [candle])
        chart?.update(candle)
      },
    },
  )
  openChart(place, older)
    .then((opened) => {
      if (isOver) return opened.remove()
      chart = opened
      chart.show(held)
    })
    .catch(() => {
      chartError.value = 'The chart could not be loaded: reload the page.'
    })
  return () => {
    isOver = true
    leave()
    chart?.remove()
  }
}

/** So many candles before the first that is there, more are fetched. */
const PREFETCH_CANDLES = 30

const chartTime = (ms: number) => Math.floor(ms / 1_000) as UTCTimestamp

async function openChart(element: HTMLElement, onNearStart: () => void) {
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
    /** The last one changed, or one follows it. */
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

/** Colours as the page's style gives them to these names, in the scheme of the moment. */
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
