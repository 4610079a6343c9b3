// Orders as responses show them. Loose, and open in what may gain values: order types, times in force, statuses.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'

const BareOrder = z.looseObject({
  coin: z.string(),
  side: z.enum(['B', 'A']),
  limitPx: Decimal,
  sz: Decimal,
  oid: z.int(),
  timestamp: z.int(),
  origSz: Decimal.optional(),
  cloid: z.string().nullish(),
})

/** A resting order: what is left of it, where it rests. */
export const OpenOrder = BareOrder.meta({ id: 'OpenOrder' })

/** An order with its trigger and its kind; `children` are the take-profit and stop-loss orders attached to it. */
export const FrontendOrder = BareOrder.extend({
  triggerCondition: z.string(),
  isTrigger: z.boolean(),
  triggerPx: Decimal,
  children: z.array(z.looseObject({})),
  isPositionTpsl: z.boolean(),
  reduceOnly: z.boolean(),
  orderType: z.string(),
  tif: z.string().nullish(),
}).meta({ id: 'FrontendOrder' })

/** An order with what became of it, and when. */
export const OrderWithStatus = z
  .looseObject({ order: FrontendOrder, status: z.string(), statusTimestamp: z.int() })
  .meta({ id: 'OrderWithStatus' })
