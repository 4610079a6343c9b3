// userAbstraction: how a user's balances are unified: a bare JSON string, an open set of names. Wire-equal.

import { Abstraction } from '../../protocol/info/common-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userAbstraction = ofUserQuery({
  type: 'userAbstraction',
  summary: "How a user's balances are unified: a bare string",
  example: 'unifiedAccount',
  response: Abstraction,
})
