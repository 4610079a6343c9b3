// History of the blocks: fills, trades, orders, ledger, payments, staking, TWAP orders and candles. Invariants:
// everything is bounded; nothing here changes a block. It is not part of a checkpoint; a restart loads it from the
// block files.

import { mergeParts, withTrade } from '../../archive/candles.ts'
import { INTERVALS, type Interval } from '../../core/candle-interval.ts'
import { type Trade, tradesOf } from '../../protocol/feed/trades.ts'
import { amountOf, notional } from '../exchange/fixed-point.ts'
import { ALL_MARKETS, type Market, marketOf } from '../exchange/market.ts'
import { type DevnetBlock, type NodeFill, type NodeMiscEvent, ZERO_HASH } from '../exchange/node-block.ts'
import type { FrontendOrder } from '../exchange/order.ts'
import { type CandleVolume, type PastMinute, pastCandles } from './past-day.ts'

/** Rows of rare events kept per wallet. The public API returns at most this many. */
const MAX_RARE_ROWS = 500
/** Maximum number of candles per coin per interval, which is the public API's limit, and of trades per coin. */
const MAX_CANDLES = 5_000
const MAX_TRADES = 10

/** A row of history in the form that /info returns. */
interface Row {
  readonly time: number
  readonly [field: string]: unknown
}
type Delta = Row & { readonly hash: string; readonly delta: object }

/** The last status of an order. */
interface OrderRecord {
  readonly order: FrontendOrder
  readonly status: string
  readonly statusTimestamp: number
}

type HistoryBlock = Pick<DevnetBlock, 'timeMs' | 'fills' | 'orderStatuses' | 'miscEvents'> &
  Partial<Pick<DevnetBlock, 'twapStatuses'>>

/** One wallet's history. */
const emptyHistory = (rows: number) => ({
  fills: new Tail<NodeFill>(rows),
  ledger: new Tail<Delta>(rows),
  staking: new Tail<Delta>(MAX_RARE_ROWS),
  payments: new Tail<Delta>(MAX_RARE_ROWS),
  twaps: new Tail<Row>(MAX_RARE_ROWS),
  /** By order id, sorted by the time of the last status. */
  orders: new Map<number, OrderRecord>(),
})
type WalletHistory = ReturnType<typeof emptyHistory>

export class BlockHistory {
  readonly #wallets = new Map<string, WalletHistory>()
  readonly candles: readonly Candles[]
  readonly #trades = new Map<string, Tail<Trade>>()
  readonly #rows: number

  /** `rows`: fills, orders and ledger updates kept per wallet. `past`: a market's minutes before the first block. */
  constructor(rows: number, past: (market: Market) => readonly PastMinute[] = () => []) {
    this.#rows = rows
    this.candles = ALL_MARKETS.map((market) => new Candles(market, past))
  }

  /** The history of a wallet; undefined if it has none. */
  wallet(address: string): WalletHistory | undefined {
    return this.#wallets.get(address)
  }

  /** The last trades of a coin, newest first. */
  trades(coin: string): readonly Trade[] {
    return this.#trades.get(coin)?.toArray().reverse() ?? []
  }

  /** Records the events of a block, or of one of its streams. Within a stream, times must not decrease. */
  record(block: HistoryBlock): void {
    for (const [user, fill] of block.fills) this.#of(user).fills.push(fill)
    for (const trade of tradesOf(block.fills)) {
      entryOf(this.#trades, trade.coin, () => new Tail<Trade>(MAX_TRADES)).push(trade)
      this.candles[marketOf(trade.coin)!.id]!.trade(trade)
    }
    for (const { user, order, status } of block.orderStatuses)
      this.#recordOrder(this.#of(user).orders, { order, status, statusTimestamp: block.timeMs })
    this.#recordMisc(block)
    for (const { twap_id: twapId, state, status } of block.twapStatuses ?? []) {
      const time = Math.floor(block.timeMs / 1_000)
      this.#of(state.user).twaps.push({ time, state, status: { status }, twapId })
    }
  }

  #recordOrder(orders: WalletHistory['orders'], row: OrderRecord): void {
    const { oid } = row.order
    orders.delete(oid)
    orders.set(oid, row)
    if (orders.size > this.#rows) orders.delete(orders.keys().next().value!)
  }

  #recordMisc({ miscEvents, timeMs }: HistoryBlock): void {
    for (const { hash, inner } of miscEvents)
      if ('LedgerUpdate' in inner) {
        const { users, delta } = inner.LedgerUpdate
        for (const user of users) this.#of(user).ledger.push({ time: timeMs, hash, delta })
      } else if ('Funding' in inner) {
        for (const { user, coin, funding_amount: usdc, szi, funding_rate: fundingRate } of inner.Funding.deltas) {
          const delta = { type: 'funding', coin, usdc, szi, fundingRate, nSamples: null }
          this.#of(user).payments.push({ time: timeMs, hash: ZERO_HASH, delta })
        }
      } else this.#recordStaking(inner, hash, timeMs)
  }

  #recordStaking(inner: NodeMiscEvent['inner'], hash: string, time: number): void {
    const note = (user: string, delta: object) => this.#of(user).staking.push({ time, hash, delta })
    if ('CDeposit' in inner) note(inner.CDeposit.user, { cDeposit: { amount: inner.CDeposit.amount } })
    else if ('CWithdrawal' in inner) {
      const { user, amount, is_finalized } = inner.CWithdrawal
      note(user, { withdrawal: { amount, phase: is_finalized ? 'finalized' : 'initiated' } })
    } else if ('Delegation' in inner) {
      const { user, validator, amount, is_undelegate: isUndelegate } = inner.Delegation
      note(user, { delegate: { validator, amount, isUndelegate } })
    }
  }

  /** Blocks name only wallets of the exchange, whose number is bounded. */
  #of(address: string): WalletHistory {
    return entryOf(this.#wallets, address, () => emptyHistory(this.#rows))
  }
}

function entryOf<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  const value = values.get(key) ?? make()
  if (!values.has(key)) values.set(key, value)
  return value
}

/** The last `bound` items, in a ring: adding never moves existing items. */
export class Tail<T> {
  readonly #bound: number
  readonly #items: T[] = []
  /** Index of the oldest item once the ring is full. */
  #start = 0

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Adds an item. When there are more than `bound` items, the oldest is dropped. */
  push(item: T): void {
    if (this.#items.length < this.#bound) this.#items.push(item)
    else {
      this.#items[this.#start] = item
      this.#start = (this.#start + 1) % this.#bound
    }
  }

  last(): T | undefined {
    return this.#items.at(this.#start - 1)
  }

  /** A copy of the items, oldest first. */
  toArray(): T[] {
    return [...this.#items.slice(this.#start), ...this.#items.slice(0, this.#start)]
  }
}

/** The candles of one coin in every interval. */
class Candles {
  readonly #market: Market
  readonly #past: (market: Market) => readonly PastMinute[]
  readonly #series = new Map<Interval, Tail<CandleVolume>>(
    INTERVALS.map((interval) => [interval, new Tail(MAX_CANDLES)]),
  )

  constructor(market: Market, past: (market: Market) => readonly PastMinute[]) {
    this.#market = market
    this.#past = past
  }

  /** Adds a trade. Times must not decrease. */
  trade(trade: Trade): void {
    const ntl = notional(amountOf(trade.px), amountOf(trade.sz))
    for (const [interval, series] of this.#series) {
      const last = series.last()
      const candle = withTrade(last?.candle ?? null, interval, trade)
      if (last?.candle.t !== candle.t) series.push({ candle, ntl })
      else Object.assign(last, { candle, ntl: last.ntl + ntl })
    }
  }

  /** Candles that overlap [fromMs, toMs], oldest first. */
  within(interval: Interval, fromMs: number, toMs: number): CandleVolume[] {
    const series = this.#series.get(interval)!.toArray()
    const traded = series.filter(({ candle }) => candle.T >= fromMs && candle.t <= toMs)
    return joined(pastCandles(this.#market, this.#past(this.#market), interval, { fromMs, toMs }), traded)
  }
}

/** Both lists as one: the period of the first block may have a candle in each. */
function joined(past: CandleVolume[], traded: CandleVolume[]): CandleVolume[] {
  const last = past.at(-1)
  const first = traded[0]
  if (last === undefined || first?.candle.t !== last.candle.t) return [...past, ...traded]
  const both = { candle: { ...first.candle, ...mergeParts(last.candle, first.candle) }, ntl: last.ntl + first.ntl }
  return [...past.slice(0, -1), both, ...traded.slice(1)]
}
