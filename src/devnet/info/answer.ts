// What every file of answers is made of: the scene that a query is answered from, and one function per query.

import type { Exchange } from '../exchange/exchange.ts'
import { type Market, marketOf } from '../exchange/market.ts'
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
export function dexIndex({ scale }: Exchange, name: string): number {
  return scale.dexes.indexOf(name)
}

/** Undefined: no such coin at the scale of this exchange. */
export function listedMarket({ scale }: Exchange, coin: string): Market | undefined {
  const market = marketOf(coin)
  return market !== undefined && market.id < scale.markets.length ? market : undefined
}

/** An answer about one DEX by its index; a DEX that does not exist is nothing. */
export function ofDex<R extends { readonly dex: string }>(
  answer: (scene: Scene, dex: number, request: R) => unknown,
): (scene: Scene, request: R) => unknown {
  return (scene, request) => {
    const dex = dexIndex(scene.exchange, request.dex)
    return dex < 0 ? NOTHING : answer(scene, dex, request)
  }
}
