// Spot listings of an upstream. While a pair names a token that is not listed, the response is doubtful, because clients
// join pairs and tokens when they start.

import * as z from 'zod'
import type { Failure } from '../../core/failure.ts'
import { parseJson } from '../../core/json.ts'
import { ok, type Result } from '../../core/result.ts'
import type { Sources } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'
import { passThrough } from './pass-through.ts'

const Listing = z.object({
  universe: z.array(z.object({ tokens: z.array(z.int()) })),
  tokens: z.array(z.object({ index: z.int() })),
})

/** Whether a pair names a token that is not listed. False for a value of another shape. */
function lacksTokens(value: unknown): boolean {
  const { success, data } = Listing.safeParse(value)
  if (!success) return false
  const listed = new Set(data.tokens.map(({ index }) => index))
  return data.universe.some(({ tokens }) => tokens.some((token) => !listed.has(token)))
}

/** Passes a request through. `listingOf`: the listing within a response. */
export async function passSpotListing<Req extends { readonly type: string }>(
  request: Req,
  from: Pick<Sources, 'upstream'>,
  listingOf: (response: unknown) => unknown,
): Promise<Result<InfoAnswer, Failure>> {
  const answer = await passThrough(request, from)
  if (!answer.ok || !lacksTokens(listingOf(parseJson(answer.value.body)))) return answer
  return ok({ ...answer.value, isDoubtful: true })
}
