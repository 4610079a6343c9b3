// userVaultEquities: what a user holds in vaults. Wire-equal.

import * as z from 'zod'
import { OTHER_USER, TIME, USER } from '../examples.ts'
import { passThrough } from '../pass-through.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { UserAddress } from '../request-fields.ts'
import { Decimal } from '../shapes.ts'

const UserVaultEquitiesRequest = z.object({ type: z.literal('userVaultEquities'), user: UserAddress })

export const userVaultEquities = defineQuery({
  type: 'userVaultEquities',
  summary: 'What a user holds in vaults',
  example: {
    request: { user: USER },
    response: [{ vaultAddress: OTHER_USER, equity: '100.5', lockedUntilTimestamp: TIME }],
  },
  request: UserVaultEquitiesRequest,
  response: z.array(
    z.looseObject({ vaultAddress: z.string(), equity: Decimal, lockedUntilTimestamp: z.int().optional() }),
  ),
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
