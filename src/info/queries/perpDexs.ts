// perpDexs: every perp DEX; the first entry is null and stands for the main one. Wire-equal.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import { AmountByCoin, Decimal, NanoTime } from '../../protocol/info/common-shapes.ts'
import { USER } from '../../protocol/info/examples.ts'
import { bareQuery } from '../sources/pass-through.ts'

const PerpDex = z.looseObject({
  name: z.string(),
  fullName: z.string(),
  deployer: Address,
  oracleUpdater: Address.nullable().describe('Oracle updater; null: the deployer'),
  feeRecipient: Address.nullable().describe('Recipient of the deployer’s fees; null: the deployer'),
  assetToStreamingOiCap: AmountByCoin,
  /** Which functions of the deployer others may call. */
  subDeployers: z
    .array(z.tuple([z.string().describe('Action'), z.array(Address).describe('Wallets allowed')]))
    .optional(),
  /** With its time of change, on the assets of `meta` instead since September 2026. */
  deployerFeeScale: Decimal.optional(),
  lastDeployerFeeScaleChangeTime: NanoTime.optional(),
  assetToFundingMultiplier: AmountByCoin.optional(),
  assetToFundingInterestRate: AmountByCoin.optional(),
  assetToFundingClamp: AmountByCoin.optional(),
})

export const perpDexs = bareQuery({
  type: 'perpDexs',
  summary: 'Every perp DEX, the main one as null',
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
  response: z.array(PerpDex.nullable()),
  freshness: { class: 'fixed' },
})
