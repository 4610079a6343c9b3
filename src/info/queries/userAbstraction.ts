// userAbstraction: how a user's balances are unified: a bare JSON string, an open set of names. Wire-equal.

import * as z from 'zod'
import { Abstraction } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const userAbstraction = passThroughQuery({
  type: 'userAbstraction',
  summary: "How a user's balances are unified: a bare string",
  example: { request: { user: USER }, response: 'unifiedAccount' },
  request: z.object({ type: z.literal('userAbstraction'), user: UserAddress }),
  response: Abstraction,
  freshness: { class: 'user' },
})
