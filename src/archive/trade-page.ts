// Filters completed trades by close time, DEX, builder and cursor. Ordinals are assigned before filtering, so that a
// cursor always refers to the same row.

import { type Coin, dexOf, MAIN_DEX } from '../core/coin.ts'
import type { CompletedTrade } from './open-trade.ts'

/** Unix ms, inclusive. */
export interface Window {
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

export interface TradeFilter extends Window {
  /** A cursor, `<close_time>_<tx_index>`: only later rows match. */
  readonly cursor?: string | undefined
  readonly builder?: string | undefined
  /** A DEX name or MAIN_DEX; all DEXes if absent. */
  readonly dex?: string | undefined
}

/** `<close_time>_<tx_index>`, the position of a trade. */
export const TRADE_CURSOR = /^\d{1,15}_\d{1,9}$/

/** Close time of a cursor; 0 if there is no cursor. */
export function cursorTime(cursor: string | undefined): number {
  return Number(cursor?.split('_')[0] ?? 0)
}

export function isWithin(time: number, { startTime = 0, endTime = Number.POSITIVE_INFINITY }: Window): boolean {
  return time >= startTime && time <= endTime
}

/** Whether a perp coin belongs to a DEX; true if no DEX is given. */
export function isOnDex(coin: Coin, dex: string | undefined): boolean {
  return dex === undefined || dexOf(coin) === (dex === MAIN_DEX ? '' : dex)
}

/** Fields that filters and cursors read. */
export type TradePosition = Pick<CompletedTrade, 'coin' | 'close_time' | 'builder' | 'tx_index'>

function closesBefore(one: TradePosition, other: TradePosition): boolean {
  return one.close_time === other.close_time ? one.tx_index < other.tx_index : one.close_time < other.close_time
}

/** Matching trades in their original order. */
export function filterTrades<Trade extends TradePosition>(trades: readonly Trade[], filter: TradeFilter): Trade[] {
  const [closeTime = -1, txIndex = -1] = filter.cursor?.split('_').map(Number) ?? []
  return trades.filter(
    ({ close_time, tx_index, coin, builder }) =>
      isWithin(close_time, filter) &&
      (close_time > closeTime || (close_time === closeTime && tx_index > txIndex)) &&
      isOnDex(coin, filter.dex) &&
      (filter.builder === undefined || builder === filter.builder),
  )
}

/**
 * A page: the first or last `limit` matching trades in their original order, and how many of the omitted ones match and
 * lie in its range. A page that is not full has no end on its open side.
 */
export function tradePage(
  { trades, omitted }: { readonly trades: readonly CompletedTrade[]; readonly omitted: readonly TradePosition[] },
  filter: TradeFilter,
  limit: number,
  side: 'first' | 'last',
): { readonly rows: CompletedTrade[]; readonly omittedTrades: number } {
  const matching = filterTrades(trades, filter)
  const rows = side === 'first' ? matching.slice(0, limit) : matching.slice(-limit)
  const end = rows.length < limit ? undefined : rows.at(side === 'first' ? -1 : 0)
  const isInRange = (one: TradePosition) =>
    end === undefined || (side === 'first' ? closesBefore(one, end) : closesBefore(end, one))
  return { rows, omittedTrades: filterTrades(omitted, filter).filter(isInRange).length }
}
