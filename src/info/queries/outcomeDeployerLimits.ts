// outcomeDeployerLimits: number of outcome markets that a venue may still open. Rejects an unknown venue. Same response
// as the exchange's API.

import * as z from 'zod'
import { Venue } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const outcomeDeployerLimits = passThroughQuery({
  type: 'outcomeDeployerLimits',
  summary: 'Number of outcome markets that a venue may still open',
  example: { request: { venue: 'out' }, response: { nDailyOutcomesRemaining: 851, nActiveOutcomesRemaining: 27 } },
  request: z.object({
    type: z.literal('outcomeDeployerLimits'),
    venue: Venue.describe('Venue of outcome markets: 2 to 4 lower-case letters'),
  }),
  response: () => z.looseObject({ nDailyOutcomesRemaining: z.int(), nActiveOutcomesRemaining: z.int() }),
  freshness: { class: 'slow', freshMs: 10_000 },
})
