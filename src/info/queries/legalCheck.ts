// legalCheck: what a user may do by law and terms. `restrictions` is `n` for none, `a` where actions are blocked, `o` where
// outcome markets are hidden, `u` for a user in the UK. Wire-equal.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const legalCheck = ofUserQuery({
  type: 'legalCheck',
  summary: 'What a user may do by law and terms',
  example: { acceptedTerms: true, userAllowed: true, restrictions: 'n' },
  response: z.looseObject({
    acceptedTerms: z.boolean(),
    userAllowed: z.boolean(),
    restrictions: openEnum('n', 'a', 'o', 'u').describe(
      '`n`: none; `a`: actions blocked; `o`: outcome markets hidden; `u`: UK user',
    ),
  }),
})
