// outcomeMeta: the outcome markets and the questions that group them; settled outcomes leave the list. Wire-equal.
// Outcomes open and settle by the day, so it is kept for seconds only.

import * as z from 'zod'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { EXAMPLE_OUTCOME, Outcome } from '../shapes/outcome-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const FRESH_MS = 10_000

const OutcomeMetaRequest = z.object({ type: z.literal('outcomeMeta') })

const Question = z.looseObject({
  question: z.int(),
  name: z.string(),
  description: z.string(),
  fallbackOutcome: z.int().nullish(),
  namedOutcomes: z.array(z.int()),
  settledNamedOutcomes: z.array(z.int()),
})

export const outcomeMeta = defineQuery({
  type: 'outcomeMeta',
  summary: 'The open outcome markets and their questions',
  example: {
    request: {},
    response: {
      outcomes: [EXAMPLE_OUTCOME],
      questions: [],
    },
  },
  request: OutcomeMetaRequest,
  response: z.looseObject({ outcomes: z.array(Outcome), questions: z.array(Question) }),
  price: ONE_CREDIT,
  freshness: { class: 'slow', freshMs: FRESH_MS },
  needs: ['upstream'],
  resolve: passThrough,
})
