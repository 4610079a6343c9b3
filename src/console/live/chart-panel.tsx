// Candles of the market: the newest page first, older ones as the visitor scrolls back, the running one as it changes.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { reasonOf } from '../../client/subscription.ts'
import { INTERVALS, type Interval } from '../../core/candle-interval.ts'
import { type ChartCandle, EMPTY_PAGES, mergedCandles, pageBefore, readCandle, type WireCandle } from './candles.ts'
import { ask, chooseInterval, clock, coin, interval, link, played } from './live-page.dom.ts'
import { Panel, Pick, unseen } from './panel.tsx'
import { openChart, type PriceChart } from './price-chart.dom.ts'
import { pageNow } from './runtime.dom.ts'

const trouble = signal<string | null>(null)

export function ChartPanel() {
  const place = useRef<HTMLDivElement>(null)
  const name = coin.value
  const length = interval.value
  useEffect(() => {
    if (name === null || !place.current) return undefined
    return follow(place.current, name, length)
  }, [name, length])
  return (
    <Panel
      name="chart"
      title={<>Candles{played.value && <small> of now</small>}</>}
      head={
        <>
          <Pick label={unseen('Interval')} value={length} of={INTERVALS} onPick={chooseInterval} />
          <a class="credit" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
            TradingView Lightweight Charts™
          </a>
        </>
      }
    >
      <div class="chart-place" ref={place} role="img" aria-label={`Candles of ${name ?? 'no market'}, ${length}`} />
      {trouble.value && <p class="foot">{trouble.value}</p>}
    </Panel>
  )
}

const now = () => Math.floor(clock.now(pageNow()))

/** Shows a market's candles in `place`; the answer ends that. */
function follow(place: HTMLElement, name: string, length: Interval): () => void {
  let held: ChartCandle[] = []
  let chart: PriceChart | null = null
  let isLoading = false
  let empty = 0
  let isOver = false
  let isShown = false

  const load = async (window: ReturnType<typeof pageBefore>, isOlder: boolean) => {
    isLoading = true
    const answer = await ask({ type: 'candleSnapshot', req: { coin: name, interval: length, ...window } })
    isLoading = false
    if (isOver) return
    trouble.value = answer.ok || answer.lost ? null : `Candles: ${answer.reason}`
    if (!answer.ok) return
    const rows = Array.isArray(answer.value) ? (answer.value as WireCandle[]) : []
    const before = held.length
    held = mergedCandles(
      held,
      rows.map(readCandle).filter((one) => one !== null),
    )
    empty = isOlder && held.length === before ? empty + 1 : 0
    chart?.show(held)
    if (!isShown) chart?.toEnd()
    isShown = true
  }
  const older = () => {
    if (!isLoading && !isOver && empty < EMPTY_PAGES) void load(pageBefore(held, length, now()), true)
  }
  /** After an interruption what it has missed, at first the newest page. */
  const newest = () => {
    const page = pageBefore([], length, now())
    void load({ ...page, startTime: held.at(-1)?.time ?? page.startTime }, false)
  }

  const leave = link.subscribe(
    { type: 'candle', interval: length, coin: name },
    {
      live: newest,
      refused: (reason) => {
        trouble.value = `Candles: ${reasonOf(reason)}`
      },
      frame: (frame) => {
        const candle = frame.channel === 'candle' ? readCandle(frame.data) : null
        if (!candle) return
        const last = held.at(-1)
        if (last && candle.time < last.time) return
        held = mergedCandles(held, [candle])
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
      trouble.value = 'The chart could not be loaded: reload the page.'
    })
  return () => {
    isOver = true
    leave()
    chart?.remove()
  }
}
