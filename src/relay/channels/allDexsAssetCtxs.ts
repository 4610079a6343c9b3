// allDexsAssetCtxs: what the markets of every perp DEX trade at, the main one first, the others by name.

import * as z from 'zod'
import { EXAMPLE_PERP_CTX, PerpAssetCtx } from '../../protocol/info/ctx-shapes.ts'
import { defineStateChannel, ONE_CREDIT } from '../channel.ts'
import { ALL_CONTEXTS_MS, type Context, contextsOf, DEXES, dexNames, perpContexts } from '../states/contexts.ts'

const TYPE = 'allDexsAssetCtxs'

const dexesIn = (names: readonly unknown[]) => ['', ...(names as readonly string[]).toSorted()]

export const allDexsAssetCtxs = defineStateChannel({
  type: TYPE,
  summary: 'What the markets of every perp DEX trade at',
  example: { request: {}, frame: { channel: TYPE, data: { ctxs: [['', [EXAMPLE_PERP_CTX]]] } } },
  request: z.strictObject({ type: z.literal(TYPE) }),
  frame: z.object({
    channel: z.literal(TYPE),
    data: z.object({
      ctxs: z
        .array(
          z.tuple([
            z.string().describe('Name of the DEX; empty: main DEX'),
            z.array(PerpAssetCtx).describe('Market data in universe order'),
          ]),
        )
        .describe('Market data'),
    }),
  }),
  price: ONE_CREDIT,
  source: 'states',
  keep: (answer, { type }): readonly string[] | readonly Context[] =>
    type === 'perpDexs' ? dexNames(answer) : contextsOf(answer),
  asks: (_, names) => [
    DEXES,
    ...(names ? dexesIn(names).map((dex) => [perpContexts(dex), ALL_CONTEXTS_MS] as const) : []),
  ],
  data: (_, [names, ...ctxs]) => JSON.stringify({ ctxs: dexesIn(names!).map((dex, i) => [dex, ctxs[i]]) }),
})
