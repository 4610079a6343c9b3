// What every file of answers is made of: the scene that a query is answered from, and one function per query.

import type { Exchange } from '../exchange/exchange.ts'
import { DEXES } from '../exchange/market.ts'
import type { Past } from './past.ts'
import type { RequestOf, StateType } from './request.ts'

export interface Scene {
  readonly exchange: Exchange
  readonly past: Past
}

/** The public server answers 500 and `null` where a query names what does not exist. */
export const NOTHING = Symbol('nothing')

/** Answers are values for JSON.stringify, or NOTHING. */
export type Answers<T extends StateType> = {
  readonly [K in T]: (scene: Scene, request: RequestOf<K>) => unknown
}

/** What a file has of them; the compiler misses what no file has where they come together. */
export type SomeAnswers = Partial<Answers<StateType>>

/** Index of a DEX, -1 where there is none of that name. */
export function dexIndex(name: string): number {
  return (DEXES as readonly string[]).indexOf(name)
}

/** An answer about one DEX by its index; a DEX that does not exist is nothing. */
export function ofDex<R extends { readonly dex: string }>(
  answer: (scene: Scene, dex: number, request: R) => unknown,
): (scene: Scene, request: R) => unknown {
  return (scene, request) => {
    const dex = dexIndex(request.dex)
    return dex < 0 ? NOTHING : answer(scene, dex, request)
  }
}
