// exchangeStatus: the clock of the exchange as a source sees it, and its special statuses. Wire-equal.

import * as z from 'zod'
import { TIME } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const ExchangeStatus = z.looseObject({
  time: z.int(),
  specialStatuses: z.string().nullable().describe('Special statuses of the exchange; null: none'),
})

/** Whoever asks for a clock wants to see it move: kept only against bursts. */
const FRESH_MS = 500

export const exchangeStatus = bareQuery({
  type: 'exchangeStatus',
  summary: 'The clock of the exchange and its special statuses',
  example: { specialStatuses: null, time: TIME },
  response: ExchangeStatus,
  freshness: { class: 'block', freshMs: FRESH_MS },
})
