// spotAssetCtxs: what all spot markets trade at, as a bare list.

import * as z from 'zod'
import { EXAMPLE_SPOT_CTX, SpotAssetCtx } from '../../protocol/info/ctx-shapes.ts'
import { defineStateChannel, ONE_CREDIT } from '../channel.ts'
import { CONTEXT_MS, contextsOf, SPOT_CONTEXTS } from '../states/contexts.ts'

const TYPE = 'spotAssetCtxs'

export const spotAssetCtxs = defineStateChannel({
  type: TYPE,
  summary: 'What all spot markets trade at',
  example: { request: {}, frame: { channel: TYPE, data: [EXAMPLE_SPOT_CTX] } },
  request: z.strictObject({ type: z.literal(TYPE) }),
  frame: z.object({ channel: z.literal(TYPE), data: z.array(SpotAssetCtx) }),
  price: ONE_CREDIT,
  source: 'states',
  asks: () => [[SPOT_CONTEXTS, CONTEXT_MS]],
  keep: contextsOf,
  data: (_, [ctxs]) => JSON.stringify(ctxs),
})
