// vaultSummaries: list of vaults. The public source lists only very recent vaults, so the list can be empty. Same response as
// the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { VaultRelationship } from '../../protocol/info/account-shapes.ts'
import { Decimal } from '../../protocol/info/common-shapes.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const VaultSummary = () =>
  z.looseObject({
    name: z.string(),
    vaultAddress: Address,
    leader: Address,
    tvl: Decimal.describe('Total value locked'),
    isClosed: z.boolean(),
    relationship: VaultRelationship.describe('Parent or child vaults'),
    createTimeMillis: z.int().describe('Creation time, Unix milliseconds'),
  })

export const vaultSummaries = bareQuery({
  type: 'vaultSummaries',
  summary: 'List of vaults',
  example: [
    {
      name: 'A vault',
      vaultAddress: OTHER_USER,
      leader: USER,
      tvl: '1000.0',
      isClosed: false,
      relationship: { type: 'normal' },
      createTimeMillis: TIME,
    },
  ],
  response: () => z.array(VaultSummary()),
  freshness: { class: 'slow', freshMs: 10_000 },
})
