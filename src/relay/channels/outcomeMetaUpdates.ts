// outcomeMetaUpdates: created, changed and settled outcome markets and questions, as a bare list.

import * as z from 'zod'
import { kindsByKey } from '../../core/open-kinds.ts'
import { EXAMPLE_OUTCOME, EXAMPLE_QUESTION, Outcome, Question } from '../../protocol/info/market-shapes.ts'
import { defineEventChannel, EVERY, type EventView, META_FIELDS, metaText } from '../channel.ts'

const TYPE = 'outcomeMetaUpdates'

const VIEW: EventView<object> = { items: ({ fetched }) => fetched?.outcomes ?? [], text: JSON.stringify }

const { deployer: _, ...CREATED } = { ...EXAMPLE_OUTCOME, sideSpecs: [{ name: 'Yes' }, { name: 'No' }] }

export const outcomeMetaUpdates = defineEventChannel({
  type: TYPE,
  summary: 'Created, changed and settled outcome markets and questions',
  example: {
    request: {},
    frame: {
      channel: TYPE,
      data: [
        { outcomeCreated: CREATED },
        { outcomeSettled: 5 },
        { questionUpdated: EXAMPLE_QUESTION },
        { questionSettled: 3 },
      ],
    },
  },
  request: z.strictObject({ type: z.literal(TYPE) }),
  frame: z.object({
    channel: z.literal(TYPE),
    data: z.array(
      kindsByKey({
        outcomeCreated: Outcome.omit({ deployer: true }),
        outcomeSettled: z.int().describe('Settled outcome id'),
        questionUpdated: Question,
        questionSettled: z.int().describe('Settled question id'),
      }),
    ),
    ...META_FIELDS,
  }),
  by: null,
  views: [VIEW],
  view: () => VIEW,
  names: () => [EVERY],
  namesOf: () => [EVERY],
  framing: 'per body',
  encode: (pieces, meta) => `{"channel":"${TYPE}","data":[${pieces.join(',')}]${metaText(meta)}}`,
  fetched: 'outcomes',
})
