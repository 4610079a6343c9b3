// exchangeStatus: exchange time as seen by the upstream source, and special statuses. Same response as the exchange's
// API.

import * as z from 'zod'
import { TIME } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const ExchangeStatus = () =>
  z.looseObject({
    time: z.int(),
    specialStatuses: z.string().nullable().describe('Special statuses of the exchange; null: none'),
  })

/** The freshness limit is short, because callers expect the clock to advance. Caching only absorbs bursts. */
const FRESH_MS = 500

export const exchangeStatus = bareQuery({
  type: 'exchangeStatus',
  summary: 'Time and special statuses of the exchange',
  example: { specialStatuses: null, time: TIME },
  response: ExchangeStatus,
  freshness: { class: 'block', freshMs: FRESH_MS },
})
