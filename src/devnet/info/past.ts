// What the exchange remembers of its blocks to answer history: fills, orders, ledger, funding, candles, volumes.
// Law: everything is bounded, and nothing here ever changes a block. It is not part of a checkpoint: a program
// that begins again remembers what it finds in the block files (recall.node.ts).

import type { Exchange } from '../exchange/exchange.ts'
import { amountOf, formatAmount, notional } from '../exchange/fixed-point.ts'
import { fundingRate, premium } from '../exchange/funding.ts'
import { ALL_MARKETS, marketOf } from '../exchange/market.ts'
import type { DevnetBlock, NodeFill, NodeMiscEvent, NodeOrderStatus } from '../exchange/node-block.ts'
import { Tail } from '../exchange/tail.ts'
import { AccountSamples } from './account-samples.ts'
import { Candles } from './candles.ts'
import { EarningsBook } from './earnings.ts'
import { FundingPayments } from './funding-payments.ts'
import { Loans } from './loans.ts'
import { Tape } from './tape.ts'
import { TwapLog } from './twap-log.ts'
import { VaultSamples } from './vault-samples.ts'
import { Volumes } from './volumes.ts'

const STAKING = 500
/** Kept per coin. */
const FUNDINGS = 1_000

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

interface PastReward {
  readonly time: number
  readonly source: 'delegation' | 'commission'
  readonly totalAmount: string
}

export interface PastOrder {
  readonly record: NodeOrderStatus
  readonly timeMs: number
}

type PastBlock = Pick<DevnetBlock, 'timeMs' | 'fills' | 'orderStatuses' | 'miscEvents' | 'rewards'>

/** One wallet's history. */
class WalletPast {
  readonly fills: Tail<NodeFill>
  readonly ledger: Tail<PastLedger>
  readonly staking = new Tail<PastStaking>(STAKING)
  readonly rewards = new Tail<PastReward>(STAKING)
  /** By order id, in the order of their last status. */
  readonly orders = new Map<number, PastOrder>()
  /** Orders sent. */
  requests = 0

  constructor(rows: number) {
    this.fills = new Tail(rows)
    this.ledger = new Tail(rows)
  }
}

export class Past {
  readonly #wallets = new Map<string, WalletPast>()
  readonly #fundings = new Map<number, Tail<PastFunding>>()
  readonly candles: readonly Candles[] = ALL_MARKETS.map(() => new Candles())
  readonly volumes = new Volumes()
  readonly vaults = new VaultSamples()
  readonly tape = new Tape()
  readonly payments = new FundingPayments()
  readonly twaps = new TwapLog()
  readonly earnings = new EarningsBook()
  readonly accounts = new AccountSamples()
  readonly loans = new Loans()
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

  /** Remembers the block that has just been made. */
  note(x: Exchange): void {
    this.recall(x.block)
    if (x.height % x.fundingBlocks === 0) this.#noteFunding(x)
    this.vaults.note(x)
    this.twaps.note(x.block)
    this.accounts.note(x, this.earnings)
  }

  /** Remembers the events of a block, or those of one of its streams; times never fall within a stream. */
  recall(block: PastBlock): void {
    this.#noteFills(block)
    this.tape.note(block.fills)
    this.earnings.fills(block.fills)
    for (const record of block.orderStatuses) this.#noteOrder(record, block.timeMs)
    this.#noteMisc(block)
  }

  #noteFills({ fills, timeMs }: PastBlock): void {
    fills.forEach(([user, fill], i) => {
      const { px, sz, coin, crossed } = fill
      const price = amountOf(px)
      const size = amountOf(sz)
      const ntl = notional(price, size)
      this.#of(user).fills.push(fill)
      this.volumes.fill(user, timeMs, ntl, crossed)
      // Both sides of a trade stand beside each other, where it has two.
      if (fills[i - 1]?.[1].tid !== fill.tid) this.candles[marketOf(coin)!.id]!.trade(timeMs, price, size, ntl)
    })
  }

  #noteOrder(record: NodeOrderStatus, timeMs: number): void {
    const wallet = this.#of(record.user)
    const { oid } = record.order
    if (record.status === 'open' || record.status.endsWith('Rejected')) wallet.requests++
    wallet.orders.delete(oid)
    wallet.orders.set(oid, { record, timeMs })
    if (wallet.orders.size > this.#rows) wallet.orders.delete(wallet.orders.keys().next().value!)
  }

  #noteMisc({ miscEvents, timeMs, rewards }: PastBlock): void {
    for (const { hash, inner } of miscEvents)
      if ('LedgerUpdate' in inner) {
        const { users, delta } = inner.LedgerUpdate
        for (const user of users) this.#of(user).ledger.push({ time: timeMs, hash, delta })
        this.loans.note(users, delta, timeMs)
      } else if ('Funding' in inner) {
        this.payments.note(inner.Funding.deltas, timeMs)
        this.earnings.funding(inner.Funding.deltas)
      } else this.#noteStaking(inner, hash, timeMs)
    for (const { user, source, amount } of rewards)
      this.#of(user).rewards.push({ time: timeMs, source, totalAmount: formatAmount(amount) })
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
      const tail = this.#fundings.get(id) ?? new Tail<PastFunding>(FUNDINGS)
      this.#fundings.set(id, tail)
      tail.push({ timeMs: x.block.timeMs, rate: fundingRate(x, id), premium: premium(x, id) })
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
