// allPerpMetas: markets of every perp DEX, the main one first, then in the order of `perpDexs`. The response is passed
// through if a source serves it; otherwise, it is composed from `meta` of each DEX, which a plain node serves. Returns
// all DEXes or fails.

import * as z from 'zod'
import type { Failure } from '../../core/failure.ts'
import { ok, type Result } from '../../core/result.ts'
import { PerpMeta } from '../../protocol/info/common-shapes.ts'
import { PERP_META } from '../../protocol/info/examples.ts'
import type { Sources } from '../ports.ts'
import { defineQuery, type InfoAnswer, latenessOf } from '../query.ts'
import { fanOut } from '../sources/fan-out.ts'
import { passThrough } from '../sources/pass-through.ts'

export const allPerpMetas = defineQuery({
  type: 'allPerpMetas',
  summary: 'Markets of every perp DEX',
  example: { request: {}, response: [PERP_META] },
  request: z.object({ type: z.literal('allPerpMetas') }),
  response: () => z.array(PerpMeta),
  freshness: { class: 'fixed' },
  needs: ['upstream', 'dexes', 'after'],
  async resolve(request, from) {
    const direct = await passThrough(request, from)
    return direct.ok ? direct : composed(from)
  },
})

async function composed(from: Pick<Sources, 'upstream' | 'dexes' | 'after'>): Promise<Result<InfoAnswer, Failure>> {
  const names = await from.dexes.names()
  if (!names.ok) return names
  const metas = await fanOut([undefined, ...names.value], (dex) => passThrough({ type: 'meta', dex }, from), from)
  const bodies: string[] = []
  for (const meta of metas) {
    if (!meta.ok) return meta
    bodies.push(meta.value.body)
  }
  return ok({ body: `[${bodies.join(',')}]`, ...latenessOf(metas) })
}
