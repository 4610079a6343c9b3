// userVaultEquities: vault deposits of a user. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME } from '../../protocol/info/examples.ts'
import { ofUserQuery } from '../sources/pass-through.ts'

export const userVaultEquities = ofUserQuery({
  type: 'userVaultEquities',
  summary: 'Vault deposits of a user',
  example: [{ vaultAddress: OTHER_USER, equity: '100.5', lockedUntilTimestamp: TIME }],
  response: () =>
    z.array(
      z.looseObject({
        vaultAddress: Address,
        equity: Decimal,
        lockedUntilTimestamp: z.int().describe('Locked until, Unix milliseconds'),
      }),
    ),
})
