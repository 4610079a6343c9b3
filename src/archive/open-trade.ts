// An open round trip, and its summary once it is closed.

import Big from 'big.js'
import type { Coin } from '../core/coin.ts'
import type { Address, Fill } from '../protocol/feed/block.ts'
import { amountText, type FillAmounts, type FillPart } from './fill-amounts.ts'

export interface CompletedTrade {
  readonly user: Address
  readonly coin: Coin
  readonly position_type: 'Long' | 'Short'
  readonly gross_pnl: string
  readonly net_pnl: string
  readonly funding_pnl: string
  readonly entry_px: string
  readonly exit_px: string
  readonly position_closed_size: string
  readonly fees: string
  readonly fills: number
  readonly open_time: number
  readonly close_time: number
  readonly duration_ms: number
  readonly max_position_size: string
  readonly maker_fills: number
  readonly builder: string | null
  readonly tx_index: number
}

export interface OpenTrade {
  readonly openTime: number
  readonly size: Big
  readonly maxSize: Big
  readonly entrySize: Big
  readonly entryValue: Big
  readonly exitSize: Big
  readonly exitValue: Big
  readonly grossPnl: Big
  readonly fees: Big
  readonly funding: Big
  readonly fills: number
  readonly makerFills: number
}

const PX_DECIMALS = 10
/** Decimals of USDC. */
const USDC_DECIMALS = 8
const ZERO = new Big(0)

/** A trade before its first fill. */
export function newTrade(time: number): OpenTrade {
  const sizes = { size: ZERO, maxSize: ZERO, entrySize: ZERO, entryValue: ZERO, exitSize: ZERO, exitValue: ZERO }
  return { openTime: time, ...sizes, grossPnl: ZERO, fees: ZERO, funding: ZERO, fills: 0, makerFills: 0 }
}

/** Adds the part of a fill that reduces or closes the position. */
export function reduceTrade(
  trade: OpenTrade,
  fill: Fill,
  { px, closedPnl, end, opening }: FillAmounts,
  part: FillPart,
) {
  return {
    ...countFill(trade, fill, part),
    size: opening ? ZERO : end,
    exitSize: trade.exitSize.plus(part.sz),
    exitValue: trade.exitValue.plus(px.times(part.sz)),
    grossPnl: trade.grossPnl.plus(closedPnl),
  } satisfies OpenTrade
}

/** Adds the part of a fill that opens or extends the position. */
export function extendTrade(trade: OpenTrade, fill: Fill, { px, end }: FillAmounts, part: FillPart) {
  const size = end.abs()
  return {
    ...countFill(trade, fill, part),
    size: end,
    maxSize: size.gt(trade.maxSize) ? size : trade.maxSize,
    entrySize: trade.entrySize.plus(part.sz),
    entryValue: trade.entryValue.plus(px.times(part.sz)),
  } satisfies OpenTrade
}

function countFill(trade: OpenTrade, fill: Fill, { fee }: FillPart): OpenTrade {
  return {
    ...trade,
    fees: trade.fees.plus(fee),
    fills: trade.fills + 1,
    makerFills: trade.makerFills + (fill.crossed ? 0 : 1),
  }
}

/** Adds funding; `perUnit` is positive if longs pay. */
export function applyFunding(trade: OpenTrade, perUnit: string): OpenTrade {
  return { ...trade, funding: trade.funding.minus(trade.size.times(perUnit)) }
}

/** Summary of a closed trade. `index`: its ordinal among the wallet's closes at the same time. */
export function completeTrade(user: Address, fill: Fill, trade: OpenTrade, index: number): CompletedTrade {
  const { grossPnl, fees, openTime } = trade
  const funding = trade.funding.round(USDC_DECIMALS)
  const maxSize = amountText(trade.maxSize)
  return {
    user,
    coin: fill.coin,
    // The fill that closes a trade is on the opposite side.
    position_type: fill.side === 'A' ? 'Long' : 'Short',
    gross_pnl: amountText(grossPnl),
    net_pnl: amountText(grossPnl.minus(fees).plus(funding)),
    funding_pnl: amountText(funding),
    entry_px: amountText(trade.entryValue.div(trade.entrySize).round(PX_DECIMALS)),
    exit_px: amountText(trade.exitValue.div(trade.exitSize).round(PX_DECIMALS)),
    position_closed_size: maxSize,
    fees: amountText(fees),
    fills: trade.fills,
    open_time: openTime,
    close_time: fill.time,
    duration_ms: fill.time - openTime,
    max_position_size: maxSize,
    maker_fills: trade.makerFills,
    builder: builderOf(fill),
    tx_index: index,
  }
}

/** Builder of a closing fill. */
export function builderOf({ builder }: Fill): string | null {
  return typeof builder === 'string' ? builder : null
}
