// A wallet: one margin account per DEX, spot balances, and resting orders. Perp cash is the exchange's totalRawUsd
// (cash minus signed cost), whose sum over all wallets is not changed by trades.

import { abs, notional } from './fixed-point.ts'
import { marketAt } from './market.ts'
import type { Order, Side } from './order.ts'
import type { Scale } from './scale.ts'

/** A perp position. Its cost is a signed sum of price times size, because an average price would be rounded. */
export interface Position {
  /** Signed size. Positive: long. */
  szi: bigint
  /** Signed sum of px * sz of the position. */
  cost: bigint
  leverage: number
  /** Funding paid (positive) over the position's life, and since its size last changed. */
  fundingSinceOpen: bigint
  fundingSinceChange: bigint
}

/** A position of size zero. */
export const positionAt = (leverage: number): Position => ({
  szi: 0n,
  cost: 0n,
  leverage,
  fundingSinceOpen: 0n,
  fundingSinceChange: 0n,
})

export interface MarginAccount {
  rawUsd: bigint
  /** By market id. */
  readonly positions: Map<number, Position>
}

interface SpotBalance {
  total: bigint
  /** Reserved by resting orders. */
  hold: bigint
  /** Purchase cost of the tokens, USDC. */
  cost: bigint
}

export interface Wallet {
  readonly index: number
  readonly address: string
  /** By index in DEX_NAMES. */
  readonly margin: readonly MarginAccount[]
  /** By index in TOKEN_NAMES. */
  readonly spot: readonly SpotBalance[]
  /** By market id: `[bids, asks]`, each in no particular order. */
  readonly orders: readonly (readonly [Order[], Order[]])[]
}

/** A wallet that has no money; `index`: its account index. */
export function emptyWallet(index: number, address: string, { dexes, tokens, markets }: Scale): Wallet {
  return {
    index,
    address,
    margin: dexes.map(() => ({ rawUsd: 0n, positions: new Map() })),
    spot: tokens.map(() => ({ total: 0n, hold: 0n, cost: 0n })),
    orders: markets.map(() => [[], []] as [Order[], Order[]]),
  }
}

/** The wallet's resting orders of a market and side. */
export function ordersOf(wallet: Wallet, market: number, side: Side): Order[] {
  return wallet.orders[market]![side === 'B' ? 0 : 1]
}

/** Adds a resting order to its owner's list. */
export function listOrder(wallet: Wallet, order: Order): void {
  const list = ordersOf(wallet, order.market, order.side)
  order.slot = list.length
  list.push(order)
}

/** Removes a resting order from the list. The last order moves into its slot. */
export function unlistOrder(wallet: Wallet, order: Order): void {
  const list = ordersOf(wallet, order.market, order.side)
  const last = list.pop()!
  if (last !== order) {
    list[order.slot] = last
    last.slot = order.slot
  }
  order.slot = -1
}

export interface MarginState {
  /** Raw USD plus the positions' signed value at mark prices. */
  readonly value: bigint
  readonly ntl: bigint
  /** Initial margin of the positions. */
  readonly used: bigint
  readonly maintenance: bigint
}

/** Cross margin of a wallet on one DEX at the given mark prices (by market id). */
export function marginState(margin: MarginAccount, marks: readonly bigint[]): MarginState {
  let value = margin.rawUsd
  let ntl = 0n
  let used = 0n
  let maintenance = 0n
  for (const [market, position] of margin.positions) {
    const positionNtl = notional(marks[market]!, abs(position.szi))
    value += position.szi > 0n ? positionNtl : -positionNtl
    ntl += positionNtl
    used += positionNtl / BigInt(position.leverage)
    maintenance += positionNtl / BigInt(2 * marketAt(market).maxLeverage)
  }
  return { value, ntl, used, maintenance }
}
