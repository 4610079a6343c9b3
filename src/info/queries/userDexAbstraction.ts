// userDexAbstraction: whether a user has one balance over all DEXes, null where they have never chosen. Wire-equal.

import * as z from 'zod'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserDexAbstractionRequest = z.object({ type: z.literal('userDexAbstraction'), user: UserAddress })

export const userDexAbstraction = defineQuery({
  type: 'userDexAbstraction',
  summary: 'Whether a user has one balance over all DEXes',
  example: { request: { user: USER }, response: true },
  request: UserDexAbstractionRequest,
  response: z.boolean().nullable(),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
