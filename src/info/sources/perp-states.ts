// A user's account on one perp DEX, with the same response as the exchange's API, or on all of them as a map from DEX
// name to state. A DEX that fails has an error entry, because a missing entry would look like an empty account; if all fail, the
// call fails.

import * as z from 'zod'
import type { Failure } from '../../core/failure.ts'
import { ok, type Result } from '../../core/result.ts'
import type { Address } from '../../protocol/feed/block.ts'
import { PerpState } from '../../protocol/info/common-shapes.ts'
import { isAllDexes } from '../../protocol/info/request-fields.ts'
import type { Sources } from '../ports.ts'
import { type InfoAnswer, latenessOf } from '../query.ts'
import { FailedDex, failedSlot, fanOut } from './fan-out.ts'
import { passThroughOnDex, refusalOfDex } from './known-dex.ts'
import { passThrough } from './pass-through.ts'

/** Name of the main DEX in wildcard responses, because its wire name is empty. */
const MAIN_DEX_KEY = 'native'

/** One state, or a map of states by DEX name. */
export const PerpStates = z.union([PerpState, z.record(z.string(), z.union([PerpState, FailedDex]))])

export interface PerpStateRequest {
  readonly user: Address
  readonly dex?: string | undefined
}

type DexName = string | undefined
type StateResult = Result<InfoAnswer, Failure>

/** Resolves the state or the map of states. */
export async function perpState(
  { user, dex }: PerpStateRequest,
  from: Pick<Sources, 'upstream' | 'dexes' | 'after'>,
): Promise<StateResult> {
  if (!isAllDexes(dex)) return passThroughOnDex({ type: 'clearinghouseState', user, dex }, from)
  const dexes = await dexesOf(dex, from)
  if (!dexes.ok) return dexes
  const onDex = (one: DexName) => passThrough({ type: 'clearinghouseState', user, dex: one }, from)
  return statesOf(dex, dexes.value, await fanOut(dexes.value, onDex, from))
}

/** DEXes of a parsed `DexOrAll`, the main one as undefined; an unknown DEX fails. */
export async function dexesOf(
  dex: DexName,
  from: Pick<Sources, 'dexes'>,
): Promise<Result<readonly DexName[], Failure>> {
  if (!isAllDexes(dex)) return (await refusalOfDex(dex, from)) ?? ok([dex])
  const names = await from.dexes.names()
  return names.ok ? ok([undefined, ...names.value]) : names
}

/** Combines the states of the DEXes into one response. */
export function statesOf(dex: DexName, dexes: readonly DexName[], states: readonly StateResult[]): StateResult {
  const [first] = states
  if (first && (!isAllDexes(dex) || states.every(({ ok }) => !ok))) return first
  const entries = states.map((state, i) => {
    const name = dexes[i] ?? MAIN_DEX_KEY
    return `${JSON.stringify(name)}:${state.ok ? state.value.body : failedSlot({ dex: name }, state.error)}`
  })
  return ok({ body: `{${entries.join(',')}}`, ...latenessOf(states) })
}
