// isVip: whether a user is a VIP, null where the exchange does not say. Wire-equal.

import * as z from 'zod'
import { ofUserQuery } from '../sources/pass-through.ts'

export const isVip = ofUserQuery({
  type: 'isVip',
  summary: 'Whether a user is a VIP',
  example: true,
  response: z.boolean().nullable(),
})
