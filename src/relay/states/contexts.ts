// What markets trade at, as answers have it: beside the list of markets, each at its market's place or with its name.

import type { InfoQuestion, StateAnswer, StateAsk } from '../channel.ts'
import { onDex } from './user-state.ts'

/** Oracles move about as often; each reading has a tenth of a minute's weight of a public source. */
export const CONTEXT_MS = 3_000
/** Of every DEX at once: there are ten. */
export const ALL_CONTEXTS_MS = 15_000
const DEXES_MS = 60_000

export interface Context {
  readonly coin?: string
  readonly markPx: string
  readonly midPx: string | null
  readonly [field: string]: unknown
}
type Answer = readonly [meta: { readonly universe: readonly { readonly name: string }[] }, contexts: readonly Context[]]

export const SPOT_CONTEXTS: InfoQuestion = { type: 'spotMetaAndAssetCtxs' }
export function perpContexts(dex: string): InfoQuestion {
  return { type: 'metaAndAssetCtxs', ...onDex(dex) }
}
export const DEXES: StateAsk = [{ type: 'perpDexs' }, DEXES_MS]

/** Names of the DEXes of a `perpDexs` answer but of the main one, which is null there. */
export function dexNames({ value }: StateAnswer): readonly string[] {
  return (value as readonly ({ readonly name: string } | null)[]).flatMap((dex) => dex?.name ?? [])
}

/** In the order of the answer. Throws where it is none. */
export function contextsOf({ value }: StateAnswer): readonly Context[] {
  const [, contexts] = value as Answer
  if (!Array.isArray(contexts)) throw new Error('no contexts')
  return contexts
}

const byCoin = new WeakMap<StateAnswer, ReadonlyMap<string, Context>>()
/** By coin, worked out once for all channels and bodies. */
export function contextsByCoin(answer: StateAnswer): ReadonlyMap<string, Context> {
  const known = byCoin.get(answer)
  if (known) return known
  const [{ universe }] = answer.value as Answer
  const found = new Map(contextsOf(answer).map((one, i) => [one.coin ?? universe[i]!.name, one]))
  byCoin.set(answer, found)
  return found
}
