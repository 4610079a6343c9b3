// userDexAbstraction: whether a user has one balance across all DEXes; null if the user never chose. Same response as
// the exchange's API.

import * as z from 'zod'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userDexAbstraction = ofUserQuery({
  type: 'userDexAbstraction',
  summary: 'DEX abstraction setting of a user',
  example: true,
  response: () => z.boolean().nullable(),
})
