// Requests on one DEX: a name that no DEX has is refused here, because upstreams answer it in many ways, some of them
// with an empty account. Where nobody can say whether a name is known, the upstream decides.

import type { Failure } from '../../core/failure.ts'
import { err, type Result } from '../../core/result.ts'
import { unknownDex } from '../../core/unknown-dex.ts'
import type { Sources } from '../ports.ts'
import { type AnyQuery, defineQuery, type InfoAnswer, type InfoQuery } from '../query.ts'
import { passThrough } from './pass-through.ts'

/** The refusal of a DEX that does not exist; null for the main one and all that may exist. */
export async function refusalOfDex(
  dex: string | undefined,
  { dexes }: Pick<Sources, 'dexes'>,
): Promise<{ readonly ok: false; readonly error: Failure } | null> {
  if (!dex || (await dexes.has(dex)) !== false) return null
  const names = await dexes.names()
  return err(unknownDex(dex, names.ok ? names.value : []))
}

/** A type that only an upstream answers, for one credit, of one DEX: what its definition has to say beside that. */
export function passThroughOnDexQuery<Req extends { readonly type: string; readonly dex?: string | undefined }>(
  query: Omit<InfoQuery<Req, 'upstream' | 'dexes'>, 'price' | 'needs' | 'resolve'>,
): AnyQuery {
  return defineQuery({ ...query, needs: ['upstream', 'dexes'], resolve: passThroughOnDex })
}

/** Passes a request through, unless its DEX is known not to exist. */
export async function passThroughOnDex<Req extends { readonly type: string; readonly dex?: string | undefined }>(
  request: Req,
  from: Pick<Sources, 'upstream' | 'dexes'>,
): Promise<Result<InfoAnswer, Failure>> {
  const refusal = await refusalOfDex(request.dex, from)
  if (refusal !== null) return refusal
  const isKnown = !!request.dex && (await from.dexes.has(request.dex)) === true
  return passThrough(request, from, isKnown ? ['dex'] : [])
}
