// leadingVaults: the vaults that a user leads. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const leadingVaults = passThroughQuery({
  type: 'leadingVaults',
  summary: 'The vaults that a user leads',
  example: { request: { user: USER }, response: [{ address: OTHER_USER, name: 'A vault' }] },
  request: z.object({ type: z.literal('leadingVaults'), user: UserAddress }),
  response: z.array(z.looseObject({ address: Address, name: z.string() })),
  freshness: { class: 'user' },
})
