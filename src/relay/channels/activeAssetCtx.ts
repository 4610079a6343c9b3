// activeAssetCtx: what one market trades at. Frames of spot and outcome markets have a name of their own, as the public
// server's.

import * as z from 'zod'
import { dexOf, marketTypeOf } from '../../core/coin.ts'
import { CoinName } from '../../protocol/feed/block.ts'
import { EXAMPLE_PERP_CTX, PerpAssetCtx, SpotAssetCtx } from '../../protocol/info/ctx-shapes.ts'
import { defineStateChannel, ONE_CREDIT } from '../channel.ts'
import { CONTEXT_MS, contextsByCoin, perpContexts, SPOT_CONTEXTS } from '../states/contexts.ts'

const TYPE = 'activeAssetCtx'

const frameOf = <const Name extends string, Context extends z.ZodType>(channel: Name, ctx: Context) =>
  z.object({ channel: z.literal(channel), data: z.object({ coin: CoinName, ctx }) })

export const activeAssetCtx = defineStateChannel({
  type: TYPE,
  framesOf: ({ coin }) => (marketTypeOf(coin) === 'perp' ? TYPE : 'activeSpotAssetCtx'),
  summary: 'What one market trades at',
  example: { request: { coin: 'BTC' }, frame: { channel: TYPE, data: { coin: 'BTC', ctx: EXAMPLE_PERP_CTX } } },
  request: z.strictObject({
    type: z.literal(TYPE),
    coin: CoinName.describe(
      'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
    ),
  }),
  frame: z.union([frameOf(TYPE, PerpAssetCtx), frameOf('activeSpotAssetCtx', SpotAssetCtx)]),
  price: ONE_CREDIT,
  source: 'states',
  coin: ({ coin }) => coin,
  asks: ({ coin }) => [[marketTypeOf(coin) === 'perp' ? perpContexts(dexOf(coin)) : SPOT_CONTEXTS, CONTEXT_MS]],
  keep: contextsByCoin,
  data: ({ coin }, [contexts]) => {
    const ctx = contexts!.get(coin)
    if (!ctx) throw new Error('there is no such market')
    return JSON.stringify({ coin, ctx })
  },
})
