// Orders and TWAP slice fills in responses. The shapes accept unknown fields. Order types, times in force and statuses
// accept new values.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Cloid, PublicFill } from '../feed/public-fill.ts'
import { Decimal } from './common-shapes.ts'

const BareOrder = z.looseObject({
  coin: z.string(),
  side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
  limitPx: Decimal,
  sz: Decimal,
  oid: z.int().describe('Order id'),
  timestamp: z.int().describe('Time of placement, Unix milliseconds'),
  origSz: Decimal.optional(),
  cloid: Cloid.nullish().describe('Client order id'),
})

/** A resting order with its remaining size. */
export const OpenOrder = BareOrder.extend({ reduceOnly: z.boolean().optional() }).meta({ id: 'OpenOrder' })

/** An order with its type and trigger. `children` are the attached take-profit and stop-loss orders. */
export const FrontendOrder = BareOrder.extend({
  origSz: Decimal,
  triggerCondition: z.string().describe('Trigger condition; `N/A` if there is no trigger'),
  isTrigger: z.boolean().describe('Whether it is a trigger order'),
  triggerPx: Decimal,
  get children(): z.ZodType<readonly object[]> {
    return z.array(FrontendOrder)
  },
  isPositionTpsl: z.boolean().describe('Whether it is a take profit or stop loss of the whole position'),
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
  tif: openEnum('Gtc', 'Ioc', 'Alo', 'FrontendMarket', 'LiquidationMarket')
    .nullable()
    .describe('Time in force: `Gtc` rests, `Ioc` never rests, `Alo` only rests'),
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

/** An order with its latest status and the time of that status. */
export const OrderWithStatus = z
  .looseObject({
    order: FrontendOrder,
    status: OrderStatus,
    statusTimestamp: z.int().describe('Time of the status, Unix milliseconds'),
  })
  .meta({ id: 'OrderWithStatus' })

/** Fill of one slice of a TWAP order. */
export const TwapSliceFill = z
  .looseObject({ fill: PublicFill, twapId: z.int().describe('TWAP order id; null: none') })
  .meta({ id: 'TwapSliceFill' })
