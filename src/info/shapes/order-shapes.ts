// Orders as responses show them, and fills of slices. Loose, and open in what may gain values: order types, times in force, statuses.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Cloid, ShownFill } from '../../feed/shown-fill.ts'
import { Decimal } from './common-shapes.ts'

const BareOrder = z.looseObject({
  coin: z.string(),
  side: z.enum(['B', 'A']),
  limitPx: Decimal,
  sz: Decimal,
  oid: z.int(),
  timestamp: z.int(),
  origSz: Decimal.optional(),
  cloid: Cloid.nullish(),
})

/** A resting order: what is left of it, where it rests. */
export const OpenOrder = BareOrder.extend({ reduceOnly: z.boolean().optional() }).meta({ id: 'OpenOrder' })

/** An order with its trigger and its kind; `children` are the take-profit and stop-loss orders attached to it. */
export const FrontendOrder = BareOrder.extend({
  origSz: Decimal,
  triggerCondition: z.string(),
  isTrigger: z.boolean(),
  triggerPx: Decimal,
  get children(): z.ZodType<readonly object[]> {
    return z.array(FrontendOrder)
  },
  isPositionTpsl: z.boolean(),
  reduceOnly: z.boolean(),
  orderType: openEnum(
    'Market',
    'Limit',
    'Stop Market',
    'Stop Limit',
    'Take Profit Market',
    'Take Profit Limit',
    'Twap Slice',
    'Vault Close',
    'Spot Dust Conversion',
  ),
  tif: openEnum('Gtc', 'Ioc', 'Alo', 'FrontendMarket', 'LiquidationMarket').nullable(),
}).meta({ id: 'FrontendOrder' })

export const OrderStatus = openEnum(
  'open',
  'filled',
  'canceled',
  'triggered',
  'rejected',
  'marginCanceled',
  'vaultWithdrawalCanceled',
  'openInterestCapCanceled',
  'selfTradeCanceled',
  'reduceOnlyCanceled',
  'siblingFilledCanceled',
  'delistedCanceled',
  'liquidatedCanceled',
  'outcomeSettledCanceled',
  'scheduledCancel',
  'internalCancel',
  'tickRejected',
  'minTradeNtlRejected',
  'perpMarginRejected',
  'reduceOnlyRejected',
  'badAloPxRejected',
  'iocCancelRejected',
  'badTriggerPxRejected',
  'marketOrderNoLiquidityRejected',
  'positionIncreaseAtOpenInterestCapRejected',
  'positionFlipAtOpenInterestCapRejected',
  'tooAggressiveAtOpenInterestCapRejected',
  'openInterestIncreaseRejected',
  'insufficientSpotBalanceRejected',
  'oracleRejected',
  'perpMaxPositionRejected',
  'tooManyOpenOrdersRejected',
)

/** An order with what became of it, and when. */
export const OrderWithStatus = z
  .looseObject({ order: FrontendOrder, status: OrderStatus, statusTimestamp: z.int() })
  .meta({ id: 'OrderWithStatus' })

/** A fill of a slice of a TWAP order. */
export const TwapSliceFill = z.looseObject({ fill: ShownFill, twapId: z.int() }).meta({ id: 'TwapSliceFill' })
