// A user's account on one perp DEX, wire-equal, or on all of them: a map from DEX name to state, all states or none,
// because a missing DEX would read as no position.

import type { Failure } from '../core/failure.ts'
import { ok, type Result } from '../core/result.ts'
import { fanOut } from './fan-out.ts'
import { passThrough } from './pass-through.ts'
import type { Answer } from './query.ts'
import { isAllDexes } from './request-fields.ts'
import type { Sources } from './sources.ts'

/** Name of the main DEX in a wildcard answer: its wire name is empty, and siblings use this one. */
const MAIN_DEX_KEY = 'native'

export interface PerpStateRequest {
  readonly user: string
  /** A parsed `DexOrAll`. */
  readonly dex?: string | undefined
}

/** The state or the map of states. */
export async function perpState(
  { user, dex }: PerpStateRequest,
  from: Pick<Sources, 'upstream' | 'dexes'>,
): Promise<Result<Answer, Failure>> {
  const onDex = (one: string | undefined) => passThrough({ type: 'clearinghouseState', user, dex: one }, from)
  if (!isAllDexes(dex)) return onDex(dex)
  const names = await from.dexes.names()
  if (!names.ok) return names
  const dexes = [undefined, ...names.value]
  const states = await fanOut(dexes, onDex)
  const entries: string[] = []
  for (const [i, state] of states.entries()) {
    if (!state.ok) return state
    entries.push(`${JSON.stringify(dexes[i] ?? MAIN_DEX_KEY)}:${state.value.body}`)
  }
  return ok({ body: `{${entries.join(',')}}` })
}
