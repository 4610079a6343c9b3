// What the exchange remembers of its blocks to answer history: fills, trades, orders, ledger, funding, stakes, TWAP orders
// and candles. Invariant: everything is bounded, and nothing here ever changes a block. It is not part of a checkpoint: a
// program that begins again remembers what it finds in the block files.

import { type Trade, tradesOf } from '../../protocol/feed/trades.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { amountOf, notional } from '../exchange/fixed-point.ts'
import { fundingRate, premium } from '../exchange/funding.ts'
import { ALL_MARKETS, marketOf } from '../exchange/market.ts'
import {
  type DevnetBlock,
  type FundingDelta,
  type NodeFill,
  type NodeMiscEvent,
  type NodeOrderStatus,
  type NodeTwapStatus,
  ZERO_HASH,
} from '../exchange/node-block.ts'
import { Candles } from './candles.ts'
import { Tail } from './tail.ts'

/** Kept per wallet of what is rare: as many as the public API answers at most. */
const RARE = 500
/** Kept per coin. */
const FUNDINGS = 1_000
const TRADES = 10

interface PastFunding {
  readonly timeMs: number
  readonly rate: bigint
  readonly premium: bigint
}

interface PastLedger {
  readonly time: number
  readonly hash: string
  readonly delta: { readonly type: string; readonly [key: string]: unknown }
}

interface PastStaking {
  readonly time: number
  readonly hash: string
  readonly delta:
    | { readonly cDeposit: { readonly amount: string } }
    | { readonly withdrawal: { readonly amount: string; readonly phase: 'initiated' | 'finalized' } }
    | { readonly delegate: { readonly validator: string; readonly amount: string; readonly isUndelegate: boolean } }
}

interface PastPayment {
  readonly time: number
  readonly hash: string
  readonly delta: {
    readonly type: 'funding'
    readonly coin: string
    readonly usdc: string
    readonly szi: string
    readonly fundingRate: string
    readonly nSamples: null
  }
}

interface PastTwap {
  /** Seconds. */
  readonly time: number
  readonly state: NodeTwapStatus['state']
  readonly status: { readonly status: NodeTwapStatus['status'] }
  readonly twapId: number
}

export interface PastOrder {
  readonly record: NodeOrderStatus
  readonly timeMs: number
}

type PastBlock = Pick<DevnetBlock, 'timeMs' | 'fills' | 'orderStatuses' | 'miscEvents'> &
  Partial<Pick<DevnetBlock, 'twapStatuses'>>

/** One wallet's history. */
class WalletPast {
  readonly fills: Tail<NodeFill>
  readonly ledger: Tail<PastLedger>
  readonly staking = new Tail<PastStaking>(RARE)
  readonly payments = new Tail<PastPayment>(RARE)
  readonly twaps = new Tail<PastTwap>(RARE)
  /** By order id, in the order of their last status. */
  readonly orders = new Map<number, PastOrder>()

  constructor(rows: number) {
    this.fills = new Tail(rows)
    this.ledger = new Tail(rows)
  }
}

export class Past {
  readonly #wallets = new Map<string, WalletPast>()
  readonly #fundings = new Map<number, Tail<PastFunding>>()
  readonly candles: readonly Candles[] = ALL_MARKETS.map(() => new Candles())
  readonly #trades = new Map<string, Tail<Trade>>()
  readonly #rows: number

  /** `rows`: of fills, orders and ledger updates kept of each wallet. */
  constructor(rows: number) {
    this.#rows = rows
  }

  /** Undefined: nothing has happened to this wallet. */
  wallet(address: string): WalletPast | undefined {
    return this.#wallets.get(address)
  }

  /** Oldest first; of one market. */
  fundings(market: number): readonly PastFunding[] {
    return this.#fundings.get(market)?.toArray() ?? []
  }

  /** The last trades of a coin, newest first. */
  trades(coin: string): readonly Trade[] {
    return this.#trades.get(coin)?.toArray().reverse() ?? []
  }

  /** Remembers the block that has just been made. */
  note(x: Exchange): void {
    this.recall(x.block)
    if (x.height % x.fundingBlocks === 0) this.#noteFunding(x)
  }

  /** Remembers the events of a block, or those of one of its streams; times never fall within a stream. */
  recall(block: PastBlock): void {
    this.#noteFills(block)
    for (const trade of tradesOf(block.fills)) tailOf(this.#trades, trade.coin, TRADES).push(trade)
    for (const record of block.orderStatuses) this.#noteOrder(record, block.timeMs)
    this.#noteMisc(block)
    for (const { twap_id: twapId, state, status } of block.twapStatuses ?? []) {
      const time = Math.floor(block.timeMs / 1_000)
      this.#of(state.user).twaps.push({ time, state, status: { status }, twapId })
    }
  }

  #noteFills({ fills, timeMs }: PastBlock): void {
    fills.forEach(([user, fill], i) => {
      const { px, sz, coin } = fill
      const price = amountOf(px)
      const size = amountOf(sz)
      const ntl = notional(price, size)
      this.#of(user).fills.push(fill)
      // Both sides of a trade stand beside each other, where it has two.
      if (fills[i - 1]?.[1].tid !== fill.tid) this.candles[marketOf(coin)!.id]!.trade(timeMs, price, size, ntl)
    })
  }

  #noteOrder(record: NodeOrderStatus, timeMs: number): void {
    const wallet = this.#of(record.user)
    const { oid } = record.order
    wallet.orders.delete(oid)
    wallet.orders.set(oid, { record, timeMs })
    if (wallet.orders.size > this.#rows) wallet.orders.delete(wallet.orders.keys().next().value!)
  }

  #noteMisc({ miscEvents, timeMs }: PastBlock): void {
    for (const { hash, inner } of miscEvents)
      if ('LedgerUpdate' in inner) {
        const { users, delta } = inner.LedgerUpdate
        for (const user of users) this.#of(user).ledger.push({ time: timeMs, hash, delta })
      } else if ('Funding' in inner) {
        for (const delta of inner.Funding.deltas) this.#notePayment(delta, timeMs)
      } else this.#noteStaking(inner, hash, timeMs)
  }

  #notePayment({ user, coin, funding_amount: usdc, szi, funding_rate: fundingRate }: FundingDelta, time: number): void {
    const delta = { type: 'funding', coin, usdc, szi, fundingRate, nSamples: null } as const
    this.#of(user).payments.push({ time, hash: ZERO_HASH, delta })
  }

  #noteStaking(inner: NodeMiscEvent['inner'], hash: string, time: number): void {
    if ('CDeposit' in inner) {
      const { user, amount } = inner.CDeposit
      this.#of(user).staking.push({ time, hash, delta: { cDeposit: { amount } } })
    } else if ('CWithdrawal' in inner) {
      const { user, amount, is_finalized } = inner.CWithdrawal
      const withdrawal = { amount, phase: is_finalized ? 'finalized' : 'initiated' } as const
      this.#of(user).staking.push({ time, hash, delta: { withdrawal } })
    } else if ('Delegation' in inner) {
      const { user, validator, amount, is_undelegate: isUndelegate } = inner.Delegation
      this.#of(user).staking.push({ time, hash, delta: { delegate: { validator, amount, isUndelegate } } })
    }
  }

  #noteFunding(x: Exchange): void {
    for (const { id, kind } of x.scale.markets) {
      if (kind !== 'perp') continue
      const funding = { timeMs: x.block.timeMs, rate: fundingRate(x, id), premium: premium(x, id) }
      tailOf(this.#fundings, id, FUNDINGS).push(funding)
    }
  }

  /** Only wallets of the exchange are in its blocks, and their number is bounded. */
  #of(address: string): WalletPast {
    const known = this.#wallets.get(address)
    if (known !== undefined) return known
    const wallet = new WalletPast(this.#rows)
    this.#wallets.set(address, wallet)
    return wallet
  }
}

function tailOf<K, T>(tails: Map<K, Tail<T>>, key: K, bound: number): Tail<T> {
  const known = tails.get(key)
  if (known !== undefined) return known
  const tail = new Tail<T>(bound)
  tails.set(key, tail)
  return tail
}
