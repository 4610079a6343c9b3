// webData2: a user's account and the markets of the main DEX in one answer, as the exchange's own pages once asked for it; it
// is deprecated there. Wire-equal.

import * as z from 'zod'
import { Address } from '../../feed/block.ts'
import { defineQuery, ONE_CREDIT } from '../query.ts'
import { Decimal, PerpMeta, PerpState } from '../shapes/common-shapes.ts'
import { EXAMPLE_PERP_CTX, EXAMPLE_SPOT_CTX, PerpAssetCtx, SpotAssetCtx } from '../shapes/ctx-shapes.ts'
import { FRONTEND_ORDER, OTHER_USER, PERP_META, PERP_STATE, SPOT_STATE, TIME, USER } from '../shapes/examples.ts'
import { FrontendOrder } from '../shapes/order-shapes.ts'
import { UserAddress } from '../shapes/request-fields.ts'
import { SpotState } from '../shapes/spot-shapes.ts'
import { EXAMPLE_TWAP, TwapState } from '../shapes/twap-shapes.ts'
import { passThrough } from '../sources/pass-through.ts'

const WebData2Request = z.object({ type: z.literal('webData2'), user: UserAddress })

const WebData2 = z.looseObject({
  clearinghouseState: PerpState,
  leadingVaults: z.array(z.looseObject({ address: Address, name: z.string() })),
  totalVaultEquity: Decimal,
  openOrders: z.array(FrontendOrder),
  agentAddress: Address.nullable(),
  agentValidUntil: z.int().nullable(),
  /** Deposits less withdrawals. */
  cumLedger: Decimal,
  meta: PerpMeta,
  assetCtxs: z.array(PerpAssetCtx),
  serverTime: z.int(),
  isVault: z.boolean(),
  user: Address,
  twapStates: z.array(z.tuple([z.int(), TwapState])),
  spotState: SpotState.optional(),
  spotAssetCtxs: z.array(SpotAssetCtx),
  optOutOfSpotDusting: z.boolean().optional(),
  perpsAtOpenInterestCap: z.array(z.string()).optional(),
})

const EXAMPLE = {
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

export const webData2 = defineQuery({
  type: 'webData2',
  summary: "A user's account and the markets in one answer (deprecated)",
  example: { request: { user: USER }, response: EXAMPLE },
  request: WebData2Request,
  response: WebData2,
  price: ONE_CREDIT,
  freshness: { class: 'user' },
  needs: ['upstream'],
  resolve: passThrough,
})
