// assetCtxs: what the markets of one perp DEX trade at, in the order of its universe.

import * as z from 'zod'
import { EXAMPLE_PERP_CTX, PerpAssetCtx } from '../../protocol/info/ctx-shapes.ts'
import { defineStateChannel, ONE_CREDIT } from '../channel.ts'
import { CONTEXT_MS, contextsOf, perpContexts } from '../states/contexts.ts'
import { StateDex } from '../states/user-state.ts'

const TYPE = 'assetCtxs'

export const assetCtxs = defineStateChannel({
  type: TYPE,
  summary: 'What the markets of one perp DEX trade at',
  example: { request: { dex: '' }, frame: { channel: TYPE, data: { dex: '', ctxs: [EXAMPLE_PERP_CTX] } } },
  request: z.strictObject({ type: z.literal(TYPE), dex: StateDex }),
  echo: (body) => ({ ...body }),
  frame: z.object({
    channel: z.literal(TYPE),
    data: z.object({ dex: z.string(), ctxs: z.array(PerpAssetCtx).describe('Market data') }),
  }),
  price: ONE_CREDIT,
  source: 'states',
  asks: ({ dex }) => [[perpContexts(dex), CONTEXT_MS]],
  keep: contextsOf,
  data: ({ dex }, [ctxs]) => JSON.stringify({ dex, ctxs }),
})
