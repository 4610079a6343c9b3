// portfolioState: a user's perp account (on one DEX or all), spot balances and abstraction in one answer, each part the
// bytes of its own type. All parts or none: a missing one would read as an empty account.

import * as z from 'zod'
import { ok } from '../../core/result.ts'
import { PERP_STATE, SPOT_STATE, USER } from '../examples.ts'
import { passThrough } from '../pass-through.ts'
import { perpState } from '../perp-states.ts'
import { ALL_DEXES_PRICE, defineQuery, ONE_CREDIT } from '../query.ts'
import { DexOrAll, isAllDexes, UserAddress } from '../request-fields.ts'
import { PerpState } from '../shapes.ts'
import { SpotState } from '../spot-shapes.ts'

const PortfolioStateRequest = z.object({ type: z.literal('portfolioState'), user: UserAddress, dex: DexOrAll })
type PortfolioStateRequest = z.infer<typeof PortfolioStateRequest>

const PortfolioState = z.object({
  clearinghouseState: z.union([PerpState, z.record(z.string(), PerpState)]),
  spotClearinghouseState: SpotState,
  userAbstraction: z.string(),
})

export const portfolioState = defineQuery({
  type: 'portfolioState',
  summary: "A user's perp account, spot balances and abstraction in one answer",
  example: {
    request: { user: USER, dex: '' },
    response: { clearinghouseState: PERP_STATE, spotClearinghouseState: SPOT_STATE, userAbstraction: 'unifiedAccount' },
  },
  request: PortfolioStateRequest,
  response: PortfolioState,
  price: ({ dex }: PortfolioStateRequest) => (isAllDexes(dex) ? ALL_DEXES_PRICE : ONE_CREDIT),
  freshness: { class: 'user' },
  needs: ['upstream', 'dexes'],
  async resolve({ user, dex }, from) {
    const [perp, spot, abstraction] = await Promise.all([
      perpState({ user, dex }, from),
      passThrough({ type: 'spotClearinghouseState', user }, from),
      passThrough({ type: 'userAbstraction', user }, from),
    ])
    if (!perp.ok) return perp
    if (!spot.ok) return spot
    if (!abstraction.ok) return abstraction
    const parts = [
      `"clearinghouseState":${perp.value.body}`,
      `"spotClearinghouseState":${spot.value.body}`,
      `"userAbstraction":${abstraction.value.body}`,
    ]
    return ok({ body: `{${parts.join(',')}}` })
  },
})
