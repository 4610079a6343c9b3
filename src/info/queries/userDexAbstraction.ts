// userDexAbstraction: whether a user has one balance over all DEXes, null where they have never chosen. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const userDexAbstraction = passThroughQuery({
  type: 'userDexAbstraction',
  summary: 'Whether a user has one balance over all DEXes',
  example: { request: { user: USER }, response: true },
  request: z.object({ type: z.literal('userDexAbstraction'), user: UserAddress }),
  response: z.boolean().nullable(),
  freshness: { class: 'user' },
})
