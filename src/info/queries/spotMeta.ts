// spotMeta: spot pairs and tokens. Same response as the exchange's API, except while it names a token that it does not
// list: then an older response is served if there is one, because clients join pairs and tokens when they start.

import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { ok } from '../../core/result.ts'
import { SPOT_META } from '../../protocol/info/examples.ts'
import { SpotMeta } from '../../protocol/info/spot-shapes.ts'
import { defineQuery } from '../query.ts'
import { passThrough } from '../sources/pass-through.ts'

const Listing = z.object({
  universe: z.array(z.object({ tokens: z.array(z.int()) })),
  tokens: z.array(z.object({ index: z.int() })),
})

/** Whether a pair names a token that is not listed. False for a body of another shape. */
function lacksTokens(body: string): boolean {
  const { success, data } = Listing.safeParse(parseJson(body))
  if (!success) return false
  const listed = new Set(data.tokens.map(({ index }) => index))
  return data.universe.some(({ tokens }) => tokens.some((token) => !listed.has(token)))
}

export const spotMeta = defineQuery({
  type: 'spotMeta',
  summary: 'Spot pairs and tokens',
  example: { request: {}, response: SPOT_META },
  request: z.object({ type: z.literal('spotMeta') }),
  response: () => SpotMeta,
  freshness: { class: 'fixed' },
  needs: ['upstream'],
  async resolve(request, from) {
    const answer = await passThrough(request, from)
    return answer.ok && lacksTokens(answer.value.body) ? ok({ ...answer.value, isDoubtful: true }) : answer
  },
})
