// userAbstraction: how a user's balances are unified: a bare JSON string, an open set of names. Wire-equal.

import * as z from 'zod'
import { Abstraction } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const UserAbstractionRequest = z.object({ type: z.literal('userAbstraction'), user: UserAddress })

export const userAbstraction = defineQuery({
  type: 'userAbstraction',
  summary: "How a user's balances are unified: a bare string",
  example: { request: { user: USER }, response: 'unifiedAccount' },
  request: UserAbstractionRequest,
  response: Abstraction,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
