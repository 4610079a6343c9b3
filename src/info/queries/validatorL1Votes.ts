// validatorL1Votes: what validators vote on now. Wire-equal; the kinds of action are open.

import * as z from 'zod'
import { kindsByKey, openEnum } from '../../core/open-kinds.ts'
import { Address } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal } from '../shapes/common-shapes.ts'
import { TIME, USER } from '../shapes/examples.ts'
import { passThrough } from '../sources/pass-through.ts'

const FRESH_MS = 10_000

const ValidatorL1VotesRequest = z.object({ type: z.literal('validatorL1Votes') })

const Text = z.string()
const NameAndDescription = z.tuple([Text, Text])
const Settlement = { settleFraction: Decimal, details: Text }

/** About outcome markets. */
const OutcomeAction = kindsByKey({
  registerTokensAndStandaloneOutcome: z.looseObject({ quoteToken: z.int(), nameAndDescription: NameAndDescription }),
  registerTokensAndQuestion: z.looseObject({
    quoteToken: z.int(),
    questionNameAndDescription: NameAndDescription,
    fallbackNameAndDescription: NameAndDescription,
    namedOutcomes: z.array(NameAndDescription),
  }),
  registerTemplate: z.looseObject({
    id: Text,
    role: kindsByKey({ standaloneOutcome: z.looseObject({ sideNames: z.tuple([Text, Text]) }) }),
    nameAndDescription: NameAndDescription,
    keywordToHint: z.array(z.tuple([Text, openEnum('dateTime', 'date', 'string', 'hlPerp')])),
  }),
  settleOutcome: z.looseObject({ outcome: z.int(), ...Settlement }),
  settleQuestion: z.looseObject({
    question: z.int(),
    settleFractionsAndDetails: z.array(z.tuple([z.int(), z.tuple([Decimal, Text])])),
  }),
  settleQuestion2: z.looseObject({
    question: z.int(),
    outcomeSettlements: z.array(
      z.looseObject({
        outcome: z.int(),
        ...Settlement,
        nameAndDescription: NameAndDescription,
        sideNames: z.tuple([Text, Text]),
      }),
    ),
    nameAndDescription: NameAndDescription,
  }),
})

/** What `D` and `C` are about is documented nowhere; `E` binds a token to its contract. */
const Action = kindsByKey({
  D: Text,
  C: z.array(Text),
  O: OutcomeAction,
  E: z.looseObject({
    token: z.int(),
    technicalStaker: Address,
    treasuryStaker: Address,
    treasuryEvmAddress: Address,
    evmRebalanceContract: Address,
  }),
})

const Vote = z.looseObject({
  expireTime: z.int(),
  action: Action,
  votes: z.array(Address),
  quorumReached: z.boolean(),
})

export const validatorL1Votes = defineQuery({
  type: 'validatorL1Votes',
  summary: 'Open votes of the validators',
  example: { request: {}, response: [{ expireTime: TIME, action: { D: 'BTC' }, votes: [USER], quorumReached: false }] },
  request: ValidatorL1VotesRequest,
  response: z.array(Vote),
  price: ONE_CREDIT,
  freshness: { class: 'slow', freshMs: FRESH_MS },
  needs: ['upstream'],
  resolve: passThrough,
})
