// settledOutcome: settlement of an outcome market; null while it is open. Same response as the exchange's API.

import * as z from 'zod'
import { kindsByKey } from '../../core/open-kinds.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { EXAMPLE_OUTCOME, Outcome } from '../../protocol/info/market-shapes.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

const SettledOutcome = () =>
  z.looseObject({
    spec: Outcome.describe('Specification'),
    /** Value of a share of the first side. A share of the second side is worth 1 minus this value. */
    settleFraction: Decimal.describe('Settlement value of the first side, 0 to 1'),
    details: z.string(),
    question: z
      .looseObject({
        question: kindsByKey({
          active: z.int().describe('Question id, while open'),
          settled: z.int().describe('Question id, once settled'),
        }).describe('Question of the outcome'),
        name: z.string(),
        description: z.string(),
      })
      .optional()
      .describe('Question of the outcome'),
  })

const EXAMPLE = {
  spec: EXAMPLE_OUTCOME,
  settleFraction: '1.0',
  details: 'price:90212.4',
  question: { question: { settled: 2 }, name: 'How high?', description: '' },
}

export const settledOutcome = passThroughQuery({
  type: 'settledOutcome',
  summary: 'Settlement of an outcome market',
  example: { request: { outcome: 4 }, response: EXAMPLE },
  request: z.object({
    type: z.literal('settledOutcome'),
    outcome: z.int().min(0).describe('Outcome market id'),
  }),
  response: () => SettledOutcome().nullable(),
  freshness: { class: 'slow', freshMs: 10_000 },
})
