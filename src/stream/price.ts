// What a minute of a subscription costs, from the tariff.

import type { MicroCredits } from '../credit/meter-api.ts'
import { streamPricePerMinute } from '../credit/tariff.ts'
import type { Body } from './body.ts'

/** Books per coin, or flat for a wildcard; everything else flat, however many addresses. */
export function streamPrice(body: Body): MicroCredits {
  if (body.type !== 'l2BookDiff' && body.type !== 'l2BookDiff2') return streamPricePerMinute(body.type, 1)
  return streamPricePerMinute(body.type, body.coins?.length ?? 'wildcard')
}
