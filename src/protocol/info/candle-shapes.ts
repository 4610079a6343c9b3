// Candles as info and streams show them.

import * as z from 'zod'
import { INTERVALS } from '../../core/candle-interval.ts'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from './common-shapes.ts'
import { TIME } from './examples.ts'

export const CandleInterval = z.enum(INTERVALS, `must be one of ${INTERVALS.join(', ')}`)

export const Candle = z
  .looseObject({
    t: z.int().describe('Open time, Unix milliseconds'),
    T: z.int().describe('Close time, Unix milliseconds'),
    s: z.string().describe('Market'),
    i: openEnum(...INTERVALS).describe('Interval'),
    o: Decimal.describe('Open price'),
    c: Decimal.describe('Close price'),
    h: Decimal.describe('High price'),
    l: Decimal.describe('Low price'),
    v: Decimal.describe('Volume in the base coin'),
    n: z.int().describe('Number of trades'),
  })
  .meta({ id: 'Candle' })

export const EXAMPLE_CANDLE = {
  t: TIME,
  T: TIME + 59_999,
  s: 'BTC',
  i: '1m',
  o: '81300.0',
  c: '81307.0',
  h: '81310.0',
  l: '81299.0',
  v: '12.5',
  n: 84,
}
