// leadingVaults: the vaults that a user leads. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { OTHER_USER, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const LeadingVaultsRequest = z.object({ type: z.literal('leadingVaults'), user: UserAddress })

export const leadingVaults = defineQuery({
  type: 'leadingVaults',
  summary: 'The vaults that a user leads',
  example: { request: { user: USER }, response: [{ address: OTHER_USER, name: 'A vault' }] },
  request: LeadingVaultsRequest,
  response: z.array(z.looseObject({ address: Address, name: z.string() })),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
