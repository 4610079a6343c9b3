// portfolioState: perp account (on one DEX or all), spot balances and abstraction mode of a user in one response. Each
// part is byte-identical to the response of its own type. Fails if a part is missing, except that individual DEXes of a wildcard may contain
// an error.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { Abstraction } from '../../protocol/info/common-shapes.ts'
import { PERP_STATE, SPOT_STATE, USER } from '../../protocol/info/examples.ts'
import { DexOrAll, isAllDexes, UserAddress } from '../../protocol/info/request-fields.ts'
import { SpotState } from '../../protocol/info/spot-shapes.ts'
import { ALL_DEXES_PRICE, defineQuery, latenessOf } from '../query.ts'
import { fanOut } from '../sources/fan-out.ts'
import { passThrough } from '../sources/pass-through.ts'
import { dexesOf, PerpStates, statesOf } from '../sources/perp-states.ts'

const PortfolioStateRequest = z.object({
  type: z.literal('portfolioState'),
  user: UserAddress,
  dex: DexOrAll,
})
type PortfolioStateRequest = z.infer<typeof PortfolioStateRequest>

const PortfolioState = () =>
  z.object({
    clearinghouseState: PerpStates.describe('Perp account'),
    spotClearinghouseState: SpotState.describe('Spot balances'),
    userAbstraction: Abstraction.describe('Account abstraction mode'),
  })

export const portfolioState = defineQuery({
  type: 'portfolioState',
  summary: "A user's perp account, spot balances and abstraction mode",
  example: {
    request: { user: USER, dex: '' },
    response: { clearinghouseState: PERP_STATE, spotClearinghouseState: SPOT_STATE, userAbstraction: 'unifiedAccount' },
  },
  request: PortfolioStateRequest,
  response: PortfolioState,
  price: ({ dex }: PortfolioStateRequest) => (isAllDexes(dex) ? ALL_DEXES_PRICE : ONE_CREDIT),
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes', 'after'],
  upstreamTypes: ['clearinghouseState', 'spotClearinghouseState', 'userAbstraction'],
  async resolve({ user, dex }, from) {
    const dexes = await dexesOf(dex, from)
    if (!dexes.ok) return dexes
    const requests = [
      { type: 'spotClearinghouseState', user },
      { type: 'userAbstraction', user },
      ...dexes.value.map((one) => ({ type: 'clearinghouseState', user, dex: one })),
    ] as const
    const [spot, abstraction, ...states] = await fanOut(requests, (request) => passThrough(request, from), from)
    const perp = statesOf(dex, dexes.value, states)
    if (!perp.ok) return perp
    if (!spot.ok) return spot
    if (!abstraction.ok) return abstraction
    const parts = [
      `"clearinghouseState":${perp.value.body}`,
      `"spotClearinghouseState":${spot.value.body}`,
      `"userAbstraction":${abstraction.value.body}`,
    ]
    return ok({ body: `{${parts.join(',')}}`, ...latenessOf([perp, spot, abstraction]) })
  },
})
