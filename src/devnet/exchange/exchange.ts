// The whole state of the exchange, and queries that every part needs. The state is a plain record, which the functions
// in matching, transfers, vault, funding and liquidation change.

import { type Crowd, emptyCrowd } from './crowd-state.ts'
import { UNIT } from './fixed-point.ts'
import { ALL_MARKETS, marketAt, TOKEN_NAMES } from './market.ts'
import { eventHash, type OpenBlock, openBlock } from './node-block.ts'
import type { Side } from './order.ts'
import { OrderBook } from './order-book.ts'
import { Prng, seedState } from './prng.ts'
import { type Scale, SMALL } from './scale.ts'
import { type MarginAccount, type MarginState, marginState, type Wallet } from './wallet.ts'

export interface Quote {
  /** The price that agents consider fair, which is also the oracle price. */
  fair: bigint
  /** Remaining blocks of a burst, and its step per block in millionths. */
  burst: number
  drift: number
  last: bigint
}

export interface Twap {
  readonly id: number
  readonly owner: number
  readonly market: number
  readonly side: 'B' | 'A'
  readonly sliceSz: bigint
  readonly startMs: number
  executedSz: bigint
  executedNtl: bigint
  slicesLeft: number
  nextHeight: number
}

interface Follower {
  shares: bigint
  /** Purchase price of the shares, USDC. */
  basis: bigint
}

export interface Vault {
  /** Account index of the vault's own wallet. */
  readonly account: number
  readonly name: string
  /** Account index. */
  readonly leader: number
  readonly createdMs: number
  totalShares: bigint
  /** By account index. */
  readonly followers: Map<number, Follower>
}

/**
 * USDC within the exchange that is not in wallets, and total deposits and withdrawals. Token fees and supplies are by
 * index in TOKEN_NAMES.
 */
interface Pools {
  fees: bigint
  deployerFees: bigint
  /** Collateral for the outstanding outcome shares. */
  escrow: bigint
  deposited: bigint
  withdrawn: bigint
  /** Unclaimed builder fees by account index. */
  readonly builderFees: Map<number, bigint>
  /** USDC that each account, by index, has lent to the exchange. Negative: borrowed from it. */
  readonly lent: Map<number, bigint>
  readonly tokenFees: bigint[]
  readonly tokenSupply: bigint[]
}

export interface Exchange {
  readonly seed: number
  readonly scale: Scale
  readonly rng: Prng
  readonly fundingBlocks: number
  height: number
  /** Time of the first block, Unix ms; 0 before it, and in checkpoints that did not store it. */
  firstBlockMs: number
  /** Blocks up to this height have no events. */
  quietTo: number
  block: OpenBlock
  nextOid: number
  nextTwapId: number
  readonly accounts: Wallet[]
  readonly byAddress: Map<string, number>
  /** By market id. */
  readonly books: readonly OrderBook[]
  readonly quotes: readonly Quote[]
  readonly twaps: Twap[]
  readonly vaults: Vault[]
  readonly pools: Pools
  /** Null if the scale has no crowd. */
  readonly crowd: Crowd | null
}

const FIRST_OID = 412_000_000_000
const FIRST_TWAP = 1_790_000

/**
 * An exchange without wallets, at height 0. `fundingBlocks`: blocks between two funding payments, by default the
 * scale's.
 */
export function emptyExchange(seed: number, fundingBlocks?: number, scale: Scale = SMALL): Exchange {
  const crowd = emptyCrowd(seed, scale)
  return {
    seed,
    scale,
    rng: new Prng(seedState(seed)),
    fundingBlocks: fundingBlocks ?? scale.fundingBlocks,
    height: 0,
    firstBlockMs: 0,
    quietTo: 0,
    block: openBlock(0, 0n),
    nextOid: FIRST_OID,
    nextTwapId: FIRST_TWAP,
    accounts: [],
    byAddress: new Map(),
    books: ALL_MARKETS.map((market) => new OrderBook(market, crowd?.orders ?? null)),
    quotes: ALL_MARKETS.map(({ base }) => ({ fair: base, burst: 0, drift: 0, last: base })),
    twaps: [],
    vaults: [],
    pools: {
      fees: 0n,
      deployerFees: 0n,
      escrow: 0n,
      deposited: 0n,
      withdrawn: 0n,
      builderFees: new Map(),
      lent: new Map(),
      tokenFees: TOKEN_NAMES.map(() => 0n),
      tokenSupply: TOKEN_NAMES.map(() => 0n),
    },
    crowd,
  }
}

/** A new hash for a user's transaction in the current block. */
export function newHash(x: Exchange): string {
  return eventHash(x.height, x.rng.hex(27))
}

/** Rounds a price to the market's tick, down for `B` and up for `A`, never below one tick. */
export function onTick(market: number, px: bigint, side: 'B' | 'A'): bigint {
  const { tick } = marketAt(market)
  const ticks = side === 'B' ? px / tick : (px + tick - 1n) / tick
  return ticks > 0n ? ticks * tick : tick
}

/**
 * A price `thousandths` beyond the fair price, at which an order of this side trades immediately. If negative, the
 * order rests.
 */
export function beyondFair(x: Exchange, market: number, side: Side, thousandths: bigint): bigint {
  const { fair } = x.quotes[market]!
  return onTick(market, (fair * (1000n + (side === 'B' ? thousandths : -thousandths))) / 1000n, side)
}

/** Mid price; null if a side is empty. */
export function midPx(x: Exchange, market: number): bigint | null {
  const book = x.books[market]!
  const bid = book.bestPx('B')
  const ask = book.bestPx('A')
  return bid === undefined || ask === undefined ? null : (bid + ask) / 2n
}

/** Mark price: the mid price, kept within one percent of the oracle. */
export function markPx(x: Exchange, market: number): bigint {
  const { fair } = x.quotes[market]!
  const mid = midPx(x, market) ?? fair
  const band = fair / 100n
  return mid > fair + band ? fair + band : mid < fair - band ? fair - band : mid
}

/** Mark prices by market id. */
export function markPxs(x: Exchange): bigint[] {
  return x.scale.markets.map(({ id }) => markPx(x, id))
}

/** Margin of an account at the current mark prices. */
export function marginOf(x: Exchange, margin: MarginAccount): MarginState {
  const marks: bigint[] = []
  for (const market of margin.positions.keys()) marks[market] = markPx(x, market)
  return marginState(margin, marks)
}

/** The largest size in whole lots whose notional at the fair price is at most `usd`, but at least one lot. */
export function sizeFor(x: Exchange, market: number, usd: bigint): bigint {
  const { lot } = marketAt(market)
  const lots = (usd * UNIT) / x.quotes[market]!.fair / lot
  return lots > 0n ? lots * lot : lot
}

/** USDC that a wallet can take out of a DEX with a safe margin; may be negative. */
export function freeUsd(x: Exchange, account: number, dex: number): bigint {
  const margin = x.accounts[account]!.margin[dex]!
  const { value, used } = marginOf(x, margin)
  const cash = margin.rawUsd
  return cash < value - 2n * used ? cash : value - 2n * used
}
