// What an account was worth and has won, over several periods.

import * as z from 'zod'
import { Decimal } from './common-shapes.ts'
import { TIME } from './examples.ts'

const Curve = z.array(z.tuple([z.int(), Decimal]))

/** `day`, `week`, `month`, `allTime`, then the same of perps alone (`perpDay`, …); points are `[time, USDC]`. */
export const Portfolio = z
  .array(z.tuple([z.string(), z.looseObject({ accountValueHistory: Curve, pnlHistory: Curve, vlm: Decimal })]))
  .meta({ id: 'Portfolio' })

export const EXAMPLE_PORTFOLIO = [
  ['day', { accountValueHistory: [[TIME, '1000.0']], pnlHistory: [[TIME, '-0.5']], vlm: '813.07' }],
]
