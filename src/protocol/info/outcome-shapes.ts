// Outcome markets: what may come to pass, traded in shares of two sides.

import * as z from 'zod'
import { Address } from '../feed/block.ts'
import { Decimal } from './common-shapes.ts'
import { USER } from './examples.ts'

/** `token` of a side is its spot token where it has one; `deployer` and what follows are of markets of a venue. */
export const Outcome = z
  .looseObject({
    outcome: z.int().describe('Outcome market id'),
    name: z.string(),
    description: z.string(),
    sideSpecs: z.array(
      z.looseObject({ name: z.string(), token: z.int().optional().describe('Index of the spot token') }),
    ),
    quoteToken: z.string(),
    deployer: Address.optional(),
    venue: z.string().optional(),
    deployerFeeScale: Decimal.optional(),
  })
  .meta({ id: 'Outcome' })

export const EXAMPLE_OUTCOME = {
  outcome: 4,
  name: 'BTC above 90000',
  description: '',
  sideSpecs: [
    { name: 'Yes', token: 40 },
    { name: 'No', token: 41 },
  ],
  quoteToken: 'USDC',
  deployer: USER,
  venue: 'out',
  deployerFeeScale: '1.0',
}

/** Outcomes of which one comes to pass. */
export const Question = z.looseObject({
  question: z.int().describe('Question id'),
  name: z.string(),
  description: z.string(),
  fallbackOutcome: z.int().describe('Outcome that wins when no named one does'),
  namedOutcomes: z.array(z.int()),
  settledNamedOutcomes: z.array(z.int()),
})

export const EXAMPLE_QUESTION = {
  question: 2,
  name: 'Who wins',
  description: '',
  fallbackOutcome: 5,
  namedOutcomes: [6, 7],
  settledNamedOutcomes: [7],
}
