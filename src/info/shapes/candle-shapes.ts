// Candles as info and streams show them.

import * as z from 'zod'
import { INTERVALS } from '../../core/candle-interval.ts'
import { openEnum } from '../../core/open-kinds.ts'
import { Decimal } from './common-shapes.ts'
import { TIME } from './examples.ts'

export const CandleInterval = z.enum(INTERVALS, `must be one of ${INTERVALS.join(', ')}`)

export const Candle = z
  .looseObject({
    t: z.int(),
    T: z.int(),
    s: z.string(),
    i: openEnum(...INTERVALS),
    o: Decimal,
    c: Decimal,
    h: Decimal,
    l: Decimal,
    v: Decimal,
    n: z.int(),
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
