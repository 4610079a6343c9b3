// userDexAbstraction: whether a user has one balance over all DEXes, null where they have never chosen. Wire-equal.

import * as z from 'zod'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userDexAbstraction = ofUserQuery({
  type: 'userDexAbstraction',
  summary: 'Whether a user has one balance over all DEXes',
  example: true,
  response: z.boolean().nullable(),
})
