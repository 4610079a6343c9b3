// legalCheck: what a user may do by law and terms. `restrictions` is `n` for none, `a` where actions are blocked, `o` where
// outcome markets are hidden, `u` for a user in the UK. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const legalCheck = passThroughQuery({
  type: 'legalCheck',
  summary: 'What a user may do by law and terms',
  example: { request: { user: USER }, response: { acceptedTerms: true, userAllowed: true, restrictions: 'n' } },
  request: z.object({ type: z.literal('legalCheck'), user: UserAddress }),
  response: z.looseObject({
    acceptedTerms: z.boolean(),
    userAllowed: z.boolean(),
    restrictions: openEnum('n', 'a', 'o', 'u').describe(
      '`n`: none; `a`: actions blocked; `o`: outcome markets hidden; `u`: UK user',
    ),
  }),
  freshness: { class: 'user' },
})
