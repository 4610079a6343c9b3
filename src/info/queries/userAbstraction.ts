// userAbstraction: account abstraction mode of a user, as a plain JSON string; more modes may be added. Same response
// as the exchange's API.

import { Abstraction } from '../../protocol/info/common-shapes.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userAbstraction = ofUserQuery({
  type: 'userAbstraction',
  summary: 'Account abstraction mode of a user',
  example: 'unifiedAccount',
  response: () => Abstraction,
})
