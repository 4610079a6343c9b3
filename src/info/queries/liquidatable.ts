// liquidatable: accounts that could be liquidated now, normally none. Wire-equal; the entries are documented nowhere, so
// only `user` is promised.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const FRESH_MS = 500

const LiquidatableRequest = z.object({ type: z.literal('liquidatable') })

export const liquidatable = defineQuery({
  type: 'liquidatable',
  summary: 'Accounts that could be liquidated now',
  example: { request: {}, response: [] },
  request: LiquidatableRequest,
  response: z.array(z.looseObject({ user: z.string() })),
  price: ONE_CREDIT,
  freshness: { class: 'block', freshMs: FRESH_MS },
  needs: ['upstream'],
  resolve: passThrough,
})
