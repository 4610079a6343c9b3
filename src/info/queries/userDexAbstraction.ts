// userDexAbstraction: whether a user has one balance over all DEXes; null if never chosen. Wire-equal.

import * as z from 'zod'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userDexAbstraction = ofUserQuery({
  type: 'userDexAbstraction',
  summary: 'DEX abstraction setting of a user',
  example: true,
  response: z.boolean().nullable(),
})
