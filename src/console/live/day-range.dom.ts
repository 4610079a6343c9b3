// Highest and lowest price of the last 24 hours: fetched when a market is opened and every few minutes, and extended by
// each trade in between.

import { computed, effect, signal } from '@preact/signals'
import { DAY_MS } from '../../core/time.ts'
import { fetchCandles } from './candle-pages.dom.ts'
import { highAndLow } from './candles.ts'
import { clock, coin, connectionState, replay, trades } from './live-page.dom.ts'
import { pageNow } from './runtime.dom.ts'

/** Short enough that the oldest candle adds little to the day. */
const INTERVAL = '15m'
const REFRESH_MS = 5 * 60_000

interface DayRange {
  readonly high: number
  readonly low: number
}
const NONE: DayRange = { high: Number.NaN, low: Number.NaN }
const fetched = signal(NONE)

export const dayRange = computed((): DayRange => {
  const { high, low } = fetched.value
  const last = trades.value[0]?.px ?? high
  return { high: Math.max(high, last), low: Math.min(low, last) }
})

const isConnected = computed(() => connectionState.value.state === 'open')

effect(() => {
  const name = coin.value
  fetched.value = NONE
  if (name === null || replay.value !== null || !isConnected.value) return undefined
  let isOver = false
  const refresh = async () => {
    if (document.visibilityState === 'hidden') return
    const nowMs = Math.floor(clock.now(pageNow()))
    const result = await fetchCandles(name, INTERVAL, { startTime: nowMs - DAY_MS, endTime: nowMs })
    if (!isOver && result.ok && result.candles.length > 0) fetched.value = highAndLow(result.candles)
  }
  const timer = setInterval(() => void refresh(), REFRESH_MS)
  void refresh()
  return () => {
    isOver = true
    clearInterval(timer)
  }
})
