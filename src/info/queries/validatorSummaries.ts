// validatorSummaries: validators with stake and performance. Same response as the exchange's API. `stake` is an integer
// that may exceed 2^53.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const ValidatorStats = () =>
  z.looseObject({
    uptimeFraction: Decimal,
    predictedApr: Decimal,
    nSamples: z.int().describe('Number of samples'),
  })

const ValidatorSummary = () =>
  z.looseObject({
    validator: Address,
    signer: Address,
    name: z.string(),
    description: z.string(),
    nRecentBlocks: z.int(),
    /** Unit: 10^-8 tokens. */
    stake: z.number().multipleOf(1).describe('Stake in the smallest unit; may exceed 2^53'),
    isJailed: z.boolean(),
    unjailableAfter: z.int().nullable().describe('Earliest unjail time, Unix milliseconds; null: now'),
    isActive: z.boolean(),
    commission: Decimal,
    /** Periods: `day`, `week` and `month`. */
    stats: z.array(z.tuple([z.string().describe('Period'), ValidatorStats().describe('Statistics')])),
  })

export const validatorSummaries = bareQuery({
  type: 'validatorSummaries',
  summary: 'Validators, with their stake and performance',
  example: [
    {
      validator: USER,
      signer: OTHER_USER,
      name: 'A validator',
      description: 'Two machines',
      nRecentBlocks: 12,
      stake: 668366174204757,
      isJailed: false,
      unjailableAfter: TIME,
      isActive: true,
      commission: '0.04',
      stats: [['day', { uptimeFraction: '1.0', predictedApr: '0.021572699', nSamples: 1440 }]],
    },
  ],
  response: () => z.array(ValidatorSummary()),
  freshness: { class: 'slow', freshMs: 10_000 },
})
