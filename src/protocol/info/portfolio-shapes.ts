// What an account was worth and has won, over several periods.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from './common-shapes.ts'
import { TIME } from './examples.ts'

const Curve = z.array(z.tuple([z.int().describe('Unix milliseconds'), Decimal.describe('Amount')]))
const Period = openEnum('day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime')

/** The periods of all, then those of perps alone; points are `[time, USDC]`. */
export const Portfolio = z
  .array(
    z.tuple([
      Period.describe('Period; `perpDay` and the like for perps only'),
      z
        .looseObject({ accountValueHistory: Curve, pnlHistory: Curve, vlm: Decimal })
        .describe('Equity and profit in the period'),
    ]),
  )
  .meta({ id: 'Portfolio' })

export const EXAMPLE_PORTFOLIO = [
  ['day', { accountValueHistory: [[TIME, '1000.0']], pnlHistory: [[TIME, '-0.5']], vlm: '813.07' }],
]
