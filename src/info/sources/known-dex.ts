// Checks the DEX that a request names. Unknown names are rejected here, because upstreams respond to them
// inconsistently, some with an empty account. If the list of DEXes is unavailable, the upstream decides.

import type { Failure } from '../../core/failure.ts'
import { err, type Result } from '../../core/result.ts'
import { unknownDex } from '../../core/unknown-dex.ts'
import type { Sources } from '../ports.ts'
import { type AnyQuery, defineQuery, type InfoAnswer, type InfoQuery } from '../query.ts'
import { passThrough } from './pass-through.ts'

/** Failure if the DEX does not exist; null for the main DEX and for a DEX that may exist. */
export async function refusalOfDex(
  dex: string | undefined,
  { dexes }: Pick<Sources, 'dexes'>,
): Promise<{ readonly ok: false; readonly error: Failure } | null> {
  if (!dex || (await dexes.has(dex)) !== false) return null
  const names = await dexes.names()
  return err(unknownDex(dex, names.ok ? names.value : []))
}

/** Query of a type on one DEX that is passed through to an upstream for one credit. */
export function passThroughOnDexQuery<Req extends { readonly type: string; readonly dex?: string | undefined }>(
  query: Omit<InfoQuery<Req, 'upstream' | 'dexes'>, 'price' | 'needs' | 'resolve'>,
): AnyQuery {
  return defineQuery({ ...query, needs: ['upstream', 'dexes'], resolve: passThroughOnDex })
}

/** Passes a request through unless its DEX does not exist. */
export async function passThroughOnDex<Req extends { readonly type: string; readonly dex?: string | undefined }>(
  request: Req,
  from: Pick<Sources, 'upstream' | 'dexes'>,
): Promise<Result<InfoAnswer, Failure>> {
  const refusal = await refusalOfDex(request.dex, from)
  if (refusal !== null) return refusal
  const isKnown = !!request.dex && (await from.dexes.has(request.dex)) === true
  return passThrough(request, from, isKnown ? ['dex'] : [])
}
