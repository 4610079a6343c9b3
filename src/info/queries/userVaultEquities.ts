// userVaultEquities: what a user holds in vaults. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { UserAddress } from '../../protocol/info/request-fields.ts'
import { passThroughQuery } from '../sources/pass-through.ts'

export const userVaultEquities = passThroughQuery({
  type: 'userVaultEquities',
  summary: 'What a user holds in vaults',
  example: {
    request: { user: USER },
    response: [{ vaultAddress: OTHER_USER, equity: '100.5', lockedUntilTimestamp: TIME }],
  },
  request: z.object({ type: z.literal('userVaultEquities'), user: UserAddress }),
  response: z.array(
    z.looseObject({
      vaultAddress: Address,
      equity: Decimal,
      lockedUntilTimestamp: z.int().describe('Locked until, Unix milliseconds'),
    }),
  ),
  freshness: { class: 'user' },
})
