// A user's account and the markets of the main DEX in one response.

import * as z from 'zod'
import { Address } from '../feed/block.ts'
import { Decimal, PerpMeta, PerpState } from './common-shapes.ts'
import { FRONTEND_ORDER, OTHER_USER, PERP_META, PERP_STATE, SPOT_STATE, TIME, USER } from './examples.ts'
import { EXAMPLE_PERP_CTX, EXAMPLE_SPOT_CTX, PerpAssetCtx, SpotAssetCtx } from './market-shapes.ts'
import { FrontendOrder } from './order-shapes.ts'
import { SpotState } from './spot-shapes.ts'
import { EXAMPLE_TWAP, TwapState } from './twap-shapes.ts'

/** Active TWAP orders by id. */
export const TwapStates = z.array(z.tuple([z.int().describe('Order id'), TwapState.describe('Order')]))

/** Vaults led by a user. */
export const LeadingVaults = z.array(z.looseObject({ address: Address, name: z.string() }))

/** Fields about the user. `cumLedger` is deposits minus withdrawals. */
export const ACCOUNT_FIELDS = {
  agentAddress: Address.nullable(),
  agentValidUntil: z.int().nullable().describe('Time when the agent expires, Unix milliseconds'),
  cumLedger: Decimal.describe('Sum of balance movements'),
  serverTime: z.int(),
  isVault: z.boolean(),
  user: Address,
  optOutOfSpotDusting: z.boolean().optional(),
}

export const WebData2 = z.looseObject({
  clearinghouseState: PerpState.describe('Perp account'),
  leadingVaults: LeadingVaults,
  totalVaultEquity: Decimal,
  openOrders: z.array(FrontendOrder),
  ...ACCOUNT_FIELDS,
  meta: PerpMeta.describe('Markets'),
  assetCtxs: z.array(PerpAssetCtx).describe('Market data in universe order'),
  twapStates: TwapStates.describe('Active TWAP orders'),
  spotState: SpotState.optional(),
  spotAssetCtxs: z.array(SpotAssetCtx),
  perpsAtOpenInterestCap: z.array(z.string()).optional().describe('Coins whose open interest is at its cap'),
})

export const EXAMPLE_WEB_DATA = {
  clearinghouseState: PERP_STATE,
  leadingVaults: [{ address: OTHER_USER, name: 'A vault' }],
  totalVaultEquity: '500.5',
  openOrders: [FRONTEND_ORDER],
  agentAddress: OTHER_USER,
  agentValidUntil: TIME,
  cumLedger: '-100.5',
  meta: PERP_META,
  assetCtxs: [EXAMPLE_PERP_CTX],
  serverTime: TIME,
  isVault: false,
  user: USER,
  twapStates: [[3, EXAMPLE_TWAP]],
  spotState: SPOT_STATE,
  spotAssetCtxs: [EXAMPLE_SPOT_CTX],
  optOutOfSpotDusting: true,
  perpsAtOpenInterestCap: ['DOGE'],
}
