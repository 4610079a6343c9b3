// legalCheck: legal restrictions of a user. `restrictions` is `n`: none, `a`: actions blocked, `o`: outcome markets
// hidden, `u`: UK user. Same response as the exchange's API.

import * as z from 'zod'
import { openEnum } from '../../core/open-kinds.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const legalCheck = ofUserQuery({
  type: 'legalCheck',
  summary: 'Legal restrictions of a user',
  example: { acceptedTerms: true, userAllowed: true, restrictions: 'n' },
  response: () =>
    z.looseObject({
      acceptedTerms: z.boolean(),
      userAllowed: z.boolean(),
      restrictions: openEnum('n', 'a', 'o', 'u').describe(
        '`n`: none; `a`: actions blocked; `o`: outcome markets hidden; `u`: UK user',
      ),
    }),
})
