// exchangeStatus: the clock of the exchange as a source sees it, and its special statuses. Wire-equal.

import * as z from 'zod'
import { TIME } from '../../protocol/info/examples.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const ExchangeStatusRequest = z.object({ type: z.literal('exchangeStatus') })

const ExchangeStatus = z.looseObject({
  time: z.int(),
  specialStatuses: z.string().nullable().describe('Special statuses of the exchange; null: none'),
})

/** Whoever asks for a clock wants to see it move: kept only against bursts. */
const FRESH_MS = 500

export const exchangeStatus = defineQuery({
  type: 'exchangeStatus',
  summary: 'The clock of the exchange and its special statuses',
  example: { request: {}, response: { specialStatuses: null, time: TIME } },
  request: ExchangeStatusRequest,
  response: ExchangeStatus,
  price: ONE_CREDIT,
  freshness: { class: 'block', freshMs: FRESH_MS },
  needs: ['upstream'],
  resolve: passThrough,
})
