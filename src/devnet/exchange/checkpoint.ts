// The state of the exchange as text. Orders stand in their owners' lists and the books are rebuilt from
// them: an order rests when it gets its id, so time priority is the order of ids. The crowd is a file of its own.

import * as z from 'zod'
import { isCrowd } from './crowd.ts'
import { type CrowdHead, crowdHead, decodeCrowd } from './crowd-checkpoint.ts'
import { type Exchange, emptyExchange } from './exchange.ts'
import { formatAmount } from './fixed-point.ts'
import { openBlock } from './node-block.ts'
import type { Order } from './order.ts'
import { Prng, type PrngState } from './prng.ts'
import { SCALES, type Scale, ScaleName } from './scale.ts'
import { emptyWallet, type Wallet } from './wallet.ts'

const VERSION = 4

/** What is known of a checkpoint before it is trusted. */
const Header = z.looseObject({
  v: z.literal(VERSION),
  seed: z.int(),
  fundingBlocks: z.int(),
  height: z.int(),
  scale: ScaleName,
})

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
    children: [],
    slot,
    crowdSlot: -1,
  }
}

interface AccountRecord {
  readonly address: string
  readonly margin: Wallet['margin']
  readonly spot: Wallet['spot']
  /** Of the markets that it has orders of. */
  readonly orders: readonly (readonly [market: number, bids: OrderRow[], asks: OrderRow[]])[]
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
  const accounts = x.accounts
    .filter(({ index }) => !isCrowd(x, index))
    .map(({ address, margin, spot, orders }) => ({
      address,
      margin,
      spot,
      orders: orders.flatMap(([bids, asks], id) =>
        bids.length + asks.length === 0 ? [] : [[id, bids.map(rowOf), asks.map(rowOf)]],
      ),
    }))
  const { seed, fundingBlocks, height, quietTo, nextOid, nextTwapId, quotes, twaps, vaults, pools } = x
  const { timeNs } = x.block
  const state = {
    v: VERSION,
    scale: x.scale.name,
    seed,
    fundingBlocks,
    height,
    quietTo,
    timeNs,
    rng: x.rng.state(),
    nextOid,
    nextTwapId,
    quotes,
    twaps,
    vaults,
    pools,
    crowd: crowdHead(x),
    accounts,
  }
  return JSON.stringify(state, encodeValue)
}

type State = Omit<Exchange, 'rng' | 'block' | 'byAddress' | 'books' | 'accounts' | 'scale' | 'crowd'> & {
  readonly timeNs: bigint
  readonly rng: PrngState
  readonly scale: Scale['name']
  readonly crowd: CrowdHead | null
  readonly accounts: readonly AccountRecord[]
}

/**
 * Inverse of encodeExchange and encodeCrowd; `wanted` is used where it has the name of the checkpoint's scale. Throws on
 * what is not a checkpoint of this version.
 */
export function decodeExchange(text: string, bytes: Uint8Array | null, wanted: Scale): Exchange {
  const parsed: unknown = JSON.parse(text, decodeValue)
  Header.parse(parsed)
  const { timeNs, rng, accounts, scale, crowd, ...state } = parsed as State
  const used = wanted.name === scale ? wanted : SCALES[scale]
  const empty = emptyExchange(state.seed, state.fundingBlocks, used)
  const x: Exchange = {
    ...empty,
    ...state,
    rng: new Prng(rng),
    crowd: empty.crowd && crowd && { ...empty.crowd, rng: new Prng(crowd.rng) },
  }
  x.block = openBlock(state.height, timeNs)
  const resting: Order[] = []
  for (const record of accounts) {
    if (crowd !== null && x.accounts.length === x.crowd?.first) decodeCrowd(x, crowd, bytes ?? new Uint8Array())
    resting.push(...restoreAccount(x, record))
  }
  resting.sort((a, b) => a.oid - b.oid)
  for (const order of resting) x.books[order.market]!.add(order)
  return x
}

function restoreAccount(x: Exchange, record: AccountRecord): Order[] {
  const index = x.accounts.length
  const wallet = { ...emptyWallet(index, record.address, x.scale), margin: record.margin, spot: record.spot }
  for (const [id, bids, asks] of record.orders) {
    wallet.orders[id]![0].push(...bids.map(orderOf))
    wallet.orders[id]![1].push(...asks.map(orderOf))
  }
  x.accounts.push(wallet)
  x.byAddress.set(record.address, index)
  return wallet.orders.flat(2)
}
