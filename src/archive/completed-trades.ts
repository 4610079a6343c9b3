// Completed trades of one wallet, rebuilt from its fills. A completed trade is a round trip in a perp: from no position
// to a position, and back to none.
//
// Invariants: the size, fee and profit of a fill belong to one trade. If the fill flips the position, they are split
// exactly between two trades. Continuing from a saved state gives the same result as processing everything at once. A
// position is not reported if its opening was not seen, or if a gap or an unexplained change of its size affects it.
//
// The funding of a block applies to the positions that remain after the block. If it came late, it applies to those after
// the block of its time, or, if all given blocks are later, to those before them that were open at that time.

import { marketTypeOf } from '../core/coin.ts'
import { DECIMAL } from '../core/decimal.ts'
import type { Address, CoinFunding, Fill } from '../protocol/feed/block.ts'
import type { EventBlock } from '../protocol/feed/durable-api.ts'
import { amountsOf } from './fill-amounts.ts'
import { fundingInPlace } from './funding-spans.ts'
import {
  applyFunding,
  builderOf,
  type CompletedTrade,
  completeTrade,
  extendTrade,
  newTrade,
  type OpenTrade,
  reduceTrade,
} from './open-trade.ts'
import type { TradePosition } from './trade-page.ts'

interface TradeState {
  readonly user: Address
  /** Positions whose opening was seen, by coin. */
  readonly open: ReadonlyMap<string, OpenTrade>
  /**
   * Number of closes at the latest close time. Positions whose opening was not seen count too, because an ordinal must
   * not depend on the requested window.
   */
  readonly closes: { readonly time: number; readonly count: number }
}

/** The state of a wallet before its first fill. */
export function emptyTradeState(user: Address): TradeState {
  return { user, open: new Map(), closes: { time: -1, count: 0 } }
}

/** The state after a gap. Open positions are dropped, because they may have changed in the gap. */
export function afterGap(state: TradeState): TradeState {
  return { ...state, open: new Map() }
}

interface FoldResult {
  readonly state: TradeState
  readonly trades: readonly CompletedTrade[]
  /** Positions that were closed but are not reported. */
  readonly omitted: readonly TradePosition[]
  /** Whether an open position became unknown, because its size did not continue or an amount was invalid. */
  readonly isBroken: boolean
}

/** Processes consecutive blocks, oldest first. Returns the trades that they complete. */
export function foldTrades(state: TradeState, blocks: readonly EventBlock[]): FoldResult {
  const fold = new Fold(state)
  const [before = [], ...placed] = fundingInPlace(blocks)
  for (const paid of before) fold.fund(paid)
  for (const [at, funding] of placed.entries()) {
    for (const [user, fill] of blocks[at]?.fills ?? []) if (user === state.user) fold.fill(fill)
    for (const paid of funding) fold.fund(paid)
  }
  return { state: fold.state(), trades: fold.trades, omitted: fold.omitted, isBroken: fold.isBroken }
}

class Fold {
  readonly trades: CompletedTrade[] = []
  readonly omitted: TradePosition[] = []
  isBroken = false
  readonly #user: Address
  readonly #open: Map<string, OpenTrade>
  #closes: TradeState['closes']

  constructor({ user, open, closes }: TradeState) {
    this.#user = user
    this.#open = new Map(open)
    this.#closes = closes
  }

  state(): TradeState {
    return { user: this.#user, open: this.#open, closes: this.#closes }
  }

  fill(fill: Fill): void {
    if (marketTypeOf(fill.coin) !== 'perp') return
    const amounts = amountsOf(fill)
    const known = this.#open.get(fill.coin)
    this.#open.delete(fill.coin)
    if (known && !(amounts && known.size.eq(amounts.start))) this.isBroken = true
    if (!amounts) return
    const { start, end, closing, opening } = amounts
    let trade = start.eq(0) ? newTrade(fill.time) : known?.size.eq(start) ? known : null
    if (trade && closing) trade = reduceTrade(trade, fill, amounts, closing)
    if (closing && (opening || end.eq(0))) {
      const index = this.#nextIndex(fill.time)
      if (trade) this.trades.push(completeTrade(this.#user, fill, trade, index))
      else this.omitted.push({ coin: fill.coin, close_time: fill.time, builder: builderOf(fill), tx_index: index })
      trade = opening && newTrade(fill.time)
    }
    if (trade && opening) trade = extendTrade(trade, fill, amounts, opening)
    if (trade) this.#open.set(fill.coin, trade)
  }

  fund({ coin, perUnit, time }: CoinFunding): void {
    const trade = this.#open.get(coin)
    if (!trade || (time !== undefined && trade.openTime > time)) return
    if (DECIMAL.test(perUnit)) this.#open.set(coin, applyFunding(trade, perUnit))
    else {
      this.#open.delete(coin)
      this.isBroken = true
    }
  }

  #nextIndex(time: number): number {
    const index = this.#closes.time === time ? this.#closes.count : 0
    this.#closes = { time, count: index + 1 }
    return index
  }
}
