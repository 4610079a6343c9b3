// isVip: VIP status of a user; null if the exchange does not report it. Same response as the exchange's API.

import * as z from 'zod'
import { ofUserQuery } from '../sources/pass-through.ts'

export const isVip = ofUserQuery({
  type: 'isVip',
  summary: 'VIP status of a user',
  example: true,
  response: () => z.boolean().nullable(),
})
