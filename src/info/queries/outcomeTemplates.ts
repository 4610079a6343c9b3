// outcomeTemplates: templates of outcome markets: names and descriptions with placeholders in braces, and the type of
// each placeholder. Same response as the exchange's API.

import * as z from 'zod'
import { kindsByKey, openEnum } from '../../core/open-kinds.ts'
import { bareQuery } from '../sources/pass-through.ts'

const Role = () =>
  z.union([
    z.literal('question'),
    kindsByKey({
      standaloneOutcome: z.looseObject({
        sideNames: z.tuple([z.string().describe('First side'), z.string().describe('Second side')]),
      }),
      questionOutcome: z.looseObject({ parent: z.string() }),
    }),
  ])

/** Type of a placeholder; `dateTime` is `YYYYMMDD-HHMM`, `hlPerp` the coin of a perp. */
const Hint = () => openEnum('dateTime', 'date', 'string', 'shortString', 'hlPerp', 'uInt', 'uDecimal')

const OutcomeTemplate = () =>
  z.looseObject({
    id: z.string(),
    /** `question`, an outcome of a question, or a standalone outcome. */
    role: Role(),
    name: z.string(),
    description: z.string(),
    keywords: z.array(z.tuple([z.string().describe('Keyword'), Hint().describe('Hint')])),
  })

export const outcomeTemplates = bareQuery({
  type: 'outcomeTemplates',
  summary: 'Templates of outcome markets',
  example: [
    {
      id: 'binaryPrice',
      role: { standaloneOutcome: { sideNames: ['Yes', 'No'] } },
      name: '{underlying} above {price}',
      description: 'class:priceBinary|underlying:{underlying}|expiry:{expiry}|targetPrice:{price}',
      keywords: [
        ['underlying', 'hlPerp'],
        ['expiry', 'dateTime'],
        ['price', 'uDecimal'],
      ],
    },
    { id: 'match', role: 'question', name: 'Who wins?', description: '', keywords: [] },
    {
      id: 'team',
      role: { questionOutcome: { parent: 'match' } },
      name: '{team}',
      description: '',
      keywords: [['team', 'shortString']],
    },
  ],
  response: () => z.array(OutcomeTemplate()),
  freshness: { class: 'fixed' },
})
