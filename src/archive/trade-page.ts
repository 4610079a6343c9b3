// Which completed trades an answer shows: by close time, DEX, builder and cursor. Ordinals are given before this, so
// that a cursor means the same row whatever else is asked for.

import { type Coin, dexOf, MAIN_DEX } from '../core/coin.ts'
import type { CompletedTrade } from './open-trade.ts'

/** Times in Unix milliseconds, both ends included. */
export interface Window {
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

export interface TradeFilter extends Window {
  /** `<close_time>_<tx_index>`: only what comes after that row. */
  readonly cursor?: string | undefined
  readonly builder?: string | undefined
  /** A DEX's name or MAIN_DEX; absent: every DEX. */
  readonly dex?: string | undefined
}

/** `<close_time>_<tx_index>`. */
export const TRADE_CURSOR = /^\d{1,15}_\d{1,9}$/

/** The close time of a cursor, 0 where there is none. */
export function cursorTime(cursor: string | undefined): number {
  return Number(cursor?.split('_')[0] ?? 0)
}

export function isWithin(time: number, { startTime = 0, endTime = Number.POSITIVE_INFINITY }: Window): boolean {
  return time >= startTime && time <= endTime
}

/** Whether a perp coin is of a DEX; any is where none is asked for. */
export function isOnDex(coin: Coin, dex: string | undefined): boolean {
  return dex === undefined || dexOf(coin) === (dex === MAIN_DEX ? '' : dex)
}

/** Those that pass, in the order they came in. */
export function filterTrades(trades: readonly CompletedTrade[], filter: TradeFilter): CompletedTrade[] {
  const [closeTime = -1, txIndex = -1] = filter.cursor?.split('_').map(Number) ?? []
  return trades.filter(
    ({ close_time, tx_index, coin, builder }) =>
      isWithin(close_time, filter) &&
      (close_time > closeTime || (close_time === closeTime && tx_index > txIndex)) &&
      isOnDex(coin, filter.dex) &&
      (filter.builder === undefined || builder === filter.builder),
  )
}
