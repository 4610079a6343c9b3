// TWAP orders in responses.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Address } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { TIME, USER } from './examples.ts'

/** Progress of an order. `timestamp` is the order's start. A price is null if the order has no such condition. */
export const TwapState = z
  .looseObject({
    coin: z.string(),
    user: Address,
    side: z.enum(['B', 'A']).describe('`B`: bid or buy; `A`: ask or sell'),
    sz: Decimal,
    executedSz: Decimal,
    executedNtl: Decimal,
    minutes: z.int().describe('Duration in minutes'),
    reduceOnly: z.boolean(),
    randomize: z.boolean().describe('Whether slice times are randomized'),
    timestamp: z.int().describe('Time of placement, Unix milliseconds'),
    trigger: z
      .looseObject({ px: Decimal, above: z.boolean().describe('Whether it triggers above the price; otherwise below') })
      .nullish()
      .describe('Trigger condition'),
    stopPx: Decimal.nullish(),
  })
  .meta({ id: 'TwapState' })

/** `description` explains an `error`. */
const Status = z.looseObject({
  status: openEnum('activated', 'finished', 'terminated', 'waitingForTrigger', 'stopped', 'error'),
  description: z.string().optional(),
})

/** A status change of an order; `time` is in seconds. */
export const TwapEvent = z.looseObject({
  time: z.int().describe('Unix seconds'),
  state: TwapState.describe(
    'Order when it got this status. Its executed amounts stay those of the start until the order ends. For its progress, read the channel `twapStates` or add up its slices',
  ),
  status: Status,
  twapId: z.int().optional().describe('TWAP order id; null: none'),
})

export const EXAMPLE_TWAP = {
  coin: 'BTC',
  user: USER,
  side: 'B',
  sz: '0.5',
  executedSz: '0.25',
  executedNtl: '20326.75',
  minutes: 30,
  reduceOnly: false,
  randomize: true,
  timestamp: TIME,
  trigger: { px: '81000.0', above: true },
  stopPx: '90000.0',
}
