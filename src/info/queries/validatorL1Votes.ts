// validatorL1Votes: open votes of the validators. Same response as the exchange's API. More kinds of action may be
// added.

import * as z from 'zod'
import { kindsByKey, openEnum } from '../../core/open-kinds.ts'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { TIME, USER } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const Text = z.string()
const NameAndDescription = () => z.tuple([Text.describe('Name'), Text.describe('Description')])
const Settlement = { settleFraction: Decimal.describe('Settlement value of the first side, 0 to 1'), details: Text }

/** Actions on outcome markets. */
const OutcomeAction = () =>
  kindsByKey({
    registerTokensAndStandaloneOutcome: z.looseObject({
      quoteToken: z.int(),
      nameAndDescription: NameAndDescription(),
    }),
    registerTokensAndQuestion: z.looseObject({
      quoteToken: z.int(),
      questionNameAndDescription: NameAndDescription(),
      fallbackNameAndDescription: NameAndDescription(),
      namedOutcomes: z.array(NameAndDescription()),
    }),
    registerTemplate: z.looseObject({
      id: Text.describe('Template id'),
      role: kindsByKey({
        standaloneOutcome: z.looseObject({
          sideNames: z.tuple([Text.describe('First side'), Text.describe('Second side')]),
        }),
      }),
      nameAndDescription: NameAndDescription(),
      keywordToHint: z.array(
        z.tuple([Text.describe('Keyword'), openEnum('dateTime', 'date', 'string', 'hlPerp').describe('Hint')]),
      ),
    }),
    settleOutcome: z.looseObject({ outcome: z.int().describe('Outcome market id'), ...Settlement }),
    settleQuestion: z.looseObject({
      question: z.int().describe('Question id'),
      settleFractionsAndDetails: z.array(
        z.tuple([
          z.int().describe('Outcome id'),
          z
            .tuple([Decimal.describe('Settlement fraction'), Text.describe('Settlement details')])
            .describe('Settlement'),
        ]),
      ),
    }),
    settleQuestion2: z
      .looseObject({
        question: z.int().describe('Question id'),
        outcomeSettlements: z.array(
          z.looseObject({
            outcome: z.int().describe('Outcome market id'),
            ...Settlement,
            nameAndDescription: NameAndDescription(),
            sideNames: z.tuple([Text.describe('First side'), Text.describe('Second side')]),
          }),
        ),
        nameAndDescription: NameAndDescription(),
      })
      .describe('Question to settle, outcome by outcome'),
  })

/** `D` and `C` are undocumented; `E` binds a token to its contract. */
const Action = () =>
  kindsByKey({
    D: Text.describe('Undocumented action, as a string'),
    C: z.array(Text).describe('Undocumented action, as a list of strings'),
    O: OutcomeAction().describe('Action on outcome markets; its only key names the kind'),
    E: z
      .looseObject({
        token: z.int().describe('Index of the spot token'),
        technicalStaker: Address,
        treasuryStaker: Address,
        treasuryEvmAddress: Address,
        evmRebalanceContract: Address,
      })
      .describe('Action on stakers and treasuries'),
  })

const Vote = () =>
  z.looseObject({
    expireTime: z.int(),
    action: Action().describe('Action under vote: one key names its kind'),
    votes: z.array(Address),
    quorumReached: z.boolean(),
  })

export const validatorL1Votes = bareQuery({
  type: 'validatorL1Votes',
  summary: 'Open votes of the validators',
  example: [{ expireTime: TIME, action: { D: 'BTC' }, votes: [USER], quorumReached: false }],
  response: () => z.array(Vote()),
  freshness: { class: 'slow', freshMs: 10_000 },
})
