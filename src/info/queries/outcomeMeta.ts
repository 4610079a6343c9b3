// outcomeMeta: open outcome markets and the questions that group them. Same response as the exchange's API. Settled
// outcomes are removed from the list. Outcomes open and settle daily, so responses are cached for seconds only.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { EXAMPLE_OUTCOME, EXAMPLE_QUESTION, Outcome, Question } from '../../protocol/info/market-shapes.ts'
import { bareQuery } from '../sources/pass-through.ts'

/** Deployer of a venue and the actions delegated to others. */
const Deployer = () =>
  z.looseObject({
    deployer: Address,
    venue: z.string(),
    subDeployers: z.array(z.tuple([z.string().describe('Action'), z.array(Address).describe('Wallets allowed')])),
  })

export const outcomeMeta = bareQuery({
  type: 'outcomeMeta',
  summary: 'Open outcome markets and their questions',
  example: {
    outcomes: [EXAMPLE_OUTCOME],
    questions: [EXAMPLE_QUESTION],
    deployers: [{ deployer: USER, venue: 'out', subDeployers: [['registerOutcome', [OTHER_USER]]] }],
    feeScale: '1.0',
  },
  response: () =>
    z.looseObject({
      outcomes: z.array(Outcome),
      questions: z.array(Question).describe('Questions that group outcomes'),
      deployers: z.array(Deployer()),
      feeScale: Decimal.describe('Fee multiplier of outcome markets'),
    }),
  freshness: { class: 'slow', freshMs: 10_000 },
})
