// Orders: the request, the resting order, and the node's format (FrontendOrder).

import { formatAmount } from './fixed-point.ts'
import { marketAt } from './market.ts'

export type Side = 'B' | 'A'
type Tif = 'Gtc' | 'Ioc' | 'Alo' | 'FrontendMarket' | 'LiquidationMarket'
type OrderType = 'Limit' | 'Market' | 'Twap Slice' | 'Spot Dust Conversion'

/** The statuses of this exchange, spelled as on the wire. */
export type OrderStatus =
  | 'open'
  | 'filled'
  | 'canceled'
  | 'selfTradeCanceled'
  | 'liquidatedCanceled'
  | 'tickRejected'
  | 'minTradeNtlRejected'
  | 'perpMarginRejected'
  | 'reduceOnlyRejected'
  | 'badAloPxRejected'
  | 'iocCancelRejected'
  | 'marketOrderNoLiquidityRejected'
  | 'insufficientSpotBalanceRejected'
  | 'oracleRejected'
  | 'positionIncreaseAtOpenInterestCapRejected'
  | 'positionFlipAtOpenInterestCapRejected'

export interface Builder {
  /** Account index. */
  readonly account: number
  /** Tenths of a basis point. */
  readonly f: number
}

export interface Liquidation {
  readonly liquidatedUser: string
  readonly markPx: string
  readonly method: 'market' | 'backstop'
}

export interface OrderRequest {
  /** Account index. */
  readonly owner: number
  /** Market id. */
  readonly market: number
  readonly side: Side
  readonly px: bigint
  readonly sz: bigint
  readonly tif: Tif
  readonly orderType?: OrderType
  readonly reduceOnly?: boolean
  readonly cloid?: string | null
  readonly builder?: Builder | null
  readonly twapId?: number | null
  readonly liquidation?: Liquidation | null
}

export interface Order extends Required<Omit<OrderRequest, 'sz'>> {
  readonly oid: number
  readonly pxText: string
  readonly timestampMs: number
  readonly origSz: bigint
  /** Remaining size. */
  sz: bigint
  /** Orders that this order's fill activates (FrontendOrder). */
  readonly children: readonly object[]
  /** While the order rests, its index in the owner's list for this market and side. */
  slot: number
  /** Slot of a crowd order in the columns (CrowdOrders); otherwise -1. */
  crowdSlot: number
}

const DEFAULTS = {
  orderType: 'Limit',
  reduceOnly: false,
  cloid: null,
  builder: null,
  twapId: null,
  liquidation: null,
  children: [],
  slot: -1,
  crowdSlot: -1,
} as const

/** Creates an order from a request and defaults. */
export function orderOf(request: OrderRequest, oid: number, timestampMs: number): Order {
  return { ...DEFAULTS, ...request, oid, pxText: formatAmount(request.px), origSz: request.sz, timestampMs }
}

/** An order in the form of order statuses and the order-level snapshot, with its keys in the node's order. */
export function frontendOrder(order: Order) {
  return {
    coin: marketAt(order.market).coin,
    side: order.side,
    limitPx: order.pxText,
    sz: formatAmount(order.sz),
    oid: order.oid,
    timestamp: order.timestampMs,
    triggerCondition: 'N/A',
    isTrigger: false,
    triggerPx: '0.0',
    children: order.children,
    isPositionTpsl: false,
    reduceOnly: order.reduceOnly,
    orderType: order.orderType,
    origSz: formatAmount(order.origSz),
    tif: order.tif,
    cloid: order.cloid,
  }
}
export type FrontendOrder = ReturnType<typeof frontendOrder>

/** The other side. */
export function opposite(side: Side): Side {
  return side === 'B' ? 'A' : 'B'
}
