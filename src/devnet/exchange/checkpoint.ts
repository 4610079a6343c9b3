// The state of the exchange as text. Orders stand in their owners' lists and the books are rebuilt from
// them: an order rests when it gets its id, so time priority is the order of ids.

import * as z from 'zod'
import { type Exchange, emptyExchange } from './exchange.ts'
import { formatAmount } from './fixed-point.ts'
import { openBlock } from './node-block.ts'
import type { Order } from './order.ts'
import { Prng, type PrngState } from './prng.ts'
import { emptyWallet, type Wallet } from './wallet.ts'

const VERSION = 2

/** What is known of a checkpoint before it is trusted. */
const Header = z.looseObject({ v: z.literal(VERSION), seed: z.int(), fundingBlocks: z.int(), height: z.int() })

type OrderRow = [
  number,
  number,
  number,
  Order['side'],
  bigint,
  bigint,
  bigint,
  number,
  Order['tif'],
  Order['orderType'],
  boolean,
  string | null,
]

/** Resting orders have no builder, TWAP or liquidation: those trade at once. */
const rowOf = (o: Order): OrderRow => [
  o.oid,
  o.owner,
  o.market,
  o.side,
  o.px,
  o.sz,
  o.origSz,
  o.timestampMs,
  o.tif,
  o.orderType,
  o.reduceOnly,
  o.cloid,
]

function orderOf(row: OrderRow, slot: number): Order {
  const [oid, owner, market, side, px, sz, origSz, timestampMs, tif, orderType, reduceOnly, cloid] = row
  const pxText = formatAmount(px)
  return {
    oid,
    owner,
    market,
    side,
    px,
    pxText,
    sz,
    origSz,
    timestampMs,
    tif,
    orderType,
    reduceOnly,
    cloid,
    builder: null,
    twapId: null,
    liquidation: null,
    slot,
  }
}

interface AccountRecord {
  readonly address: string
  readonly margin: Wallet['margin']
  readonly spot: Wallet['spot']
  readonly orders: readonly [OrderRow[], OrderRow[]][]
}

/** Amounts as `123n`, maps as `{map: entries}`; no other text of the state has either form. */
function encodeValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  return value instanceof Map ? { map: [...value] } : value
}

const AMOUNT = /^-?\d+n$/

function decodeValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return AMOUNT.test(value) ? BigInt(value.slice(0, -1)) : value
  const entries = (value as { map?: [unknown, unknown][] } | null)?.map
  return Array.isArray(entries) ? new Map(entries) : value
}

export function encodeExchange(x: Exchange): string {
  const accounts = x.accounts.map(({ address, margin, spot, orders }) => ({
    address,
    margin,
    spot,
    orders: orders.map(([bids, asks]) => [bids.map(rowOf), asks.map(rowOf)]),
  }))
  const { seed, fundingBlocks, height, nextOid, nextTwapId, quotes, twaps, vaults, pools, staking } = x
  const { timeNs } = x.block
  const state = {
    v: VERSION,
    seed,
    fundingBlocks,
    height,
    timeNs,
    rng: x.rng.state(),
    nextOid,
    nextTwapId,
    quotes,
    twaps,
    vaults,
    pools,
    staking,
    accounts,
  }
  return JSON.stringify(state, encodeValue)
}

type State = Omit<Exchange, 'rng' | 'block' | 'byAddress' | 'books' | 'accounts'> & {
  readonly timeNs: bigint
  readonly rng: PrngState
  readonly accounts: readonly AccountRecord[]
}

/** Inverse of encodeExchange. Throws on a text that is not a checkpoint of this version. */
export function decodeExchange(text: string): Exchange {
  const parsed: unknown = JSON.parse(text, decodeValue)
  Header.parse(parsed)
  const { timeNs, rng, accounts, ...state } = parsed as State
  const x: Exchange = { ...emptyExchange(state.seed, state.fundingBlocks), ...state, rng: new Prng(rng) }
  x.block = openBlock(state.height, timeNs)
  const resting: Order[] = []
  for (const record of accounts) resting.push(...restoreAccount(x, record))
  resting.sort((a, b) => a.oid - b.oid)
  for (const order of resting) x.books[order.market]!.add(order)
  return x
}

function restoreAccount(x: Exchange, record: AccountRecord): Order[] {
  const index = x.accounts.length
  const orders = record.orders.map(([bids, asks]) => [bids.map(orderOf), asks.map(orderOf)] as [Order[], Order[]])
  x.accounts.push({ ...emptyWallet(index, record.address), margin: record.margin, spot: record.spot, orders })
  x.byAddress.set(record.address, index)
  return orders.flat(2)
}
