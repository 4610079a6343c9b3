// perpDexs: all perp DEXes; the first entry is null and represents the main DEX. Same response as the exchange's API.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { AmountByCoin, Decimal, NanoTime } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const PerpDex = () =>
  z.looseObject({
    name: z.string(),
    fullName: z.string(),
    deployer: Address,
    oracleUpdater: Address.nullable().describe('Oracle updater; null: the deployer'),
    feeRecipient: Address.nullable().describe('Recipient of the deployer’s fees; null: the deployer'),
    assetToStreamingOiCap: AmountByCoin,
    /** Deployer actions delegated to others. */
    subDeployers: z
      .array(z.tuple([z.string().describe('Action'), z.array(Address).describe('Wallets allowed')]))
      .optional(),
    /** Since September 2026, `meta` has this field and its change time for each asset instead. */
    deployerFeeScale: Decimal.optional(),
    lastDeployerFeeScaleChangeTime: NanoTime.optional(),
    assetToFundingMultiplier: AmountByCoin.optional(),
    assetToFundingInterestRate: AmountByCoin.optional(),
    assetToFundingClamp: AmountByCoin.optional(),
  })

export const perpDexs = bareQuery({
  type: 'perpDexs',
  summary: 'All perp DEXes; the main one is null',
  example: [
    null,
    {
      name: 'xyz',
      fullName: 'XYZ',
      deployer: USER,
      oracleUpdater: null,
      feeRecipient: null,
      assetToStreamingOiCap: [['xyz:GOLD', '1000000.0']],
    },
  ],
  response: () => z.array(PerpDex().nullable()),
  freshness: { class: 'fixed' },
})
