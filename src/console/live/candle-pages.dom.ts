// Fetches candles of a market.

import type { Interval } from '../../core/candle-interval.ts'
import { type ChartCandle, parseCandle, type WireCandle } from './candles.ts'
import { requestInfo } from './live-page.dom.ts'

interface CandleWindow {
  readonly startTime: number
  readonly endTime: number
}

type CandlesResult =
  | { readonly ok: true; readonly candles: readonly ChartCandle[] }
  | { readonly ok: false; readonly reason: string; readonly isRetryable: boolean }

/** Candles that overlap the window, in Unix ms, oldest first. */
export async function fetchCandles(coin: string, interval: Interval, window: CandleWindow): Promise<CandlesResult> {
  const result = await requestInfo({ type: 'candleSnapshot', req: { coin, interval, ...window } })
  if (!result.ok) return result
  const rows = Array.isArray(result.value) ? (result.value as WireCandle[]) : []
  return { ok: true, candles: rows.map(parseCandle).filter((one) => one !== null) }
}
