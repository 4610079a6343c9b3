// What every file of answers is made of: the scene that a query is answered from, and one function per query.

import type { Interval } from '../../core/candle-interval.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { type Market, marketOf } from '../exchange/market.ts'
import type { BlockHistory } from './block-history.ts'

export interface InfoContext {
  readonly exchange: Exchange
  readonly history: BlockHistory
}

interface Window {
  readonly startTime?: number
  readonly endTime?: number
}

/** Fields of requests, parsed by the schemas of their queries: a query has some of them. */
export interface RequestFields extends Window {
  readonly user: string
  readonly coin: string
  /** Undefined: the main one. */
  readonly dex?: string
  readonly builder: string
  readonly id: number
  readonly oid: number | string
  readonly outcome: number
  readonly tokenId: string
  readonly vaultAddress: string
  readonly aggregateByTime?: true
  readonly reversed?: true
  readonly nSigFigs?: number
  readonly mantissa?: number
  readonly req: Window & { readonly coin: string; readonly interval: Interval }
}

/** The public server answers 500 and `null` where a query names what does not exist. */
export const NOT_FOUND = Symbol('nothing')

// biome-ignore lint/suspicious/noExplicitAny: examples of many shapes, which their schemas know
type Example = any

/** A value for JSON.stringify, or NOTHING. `example`: the query's, moved to the present exchange. */
export type InfoHandler = (scene: InfoContext, fields: RequestFields, example: Example) => unknown
export type InfoHandlers = Readonly<Record<string, InfoHandler>>

/** Undefined: no such coin at the scale of this exchange. */
export function listedMarket({ scale }: Exchange, coin: string): Market | undefined {
  const market = marketOf(coin)
  return market !== undefined && market.id < scale.markets.length ? market : undefined
}

/** Index of the DEX that is asked for, -1 where there is none of that name. */
export const dexOf = ({ scale }: Exchange, { dex = '' }: Pick<RequestFields, 'dex'>) => scale.dexes.indexOf(dex)

/** An answer about one DEX by its index; a DEX that does not exist is nothing. */
export function forDex(answer: (scene: InfoContext, dex: number, fields: RequestFields) => unknown): InfoHandler {
  return (scene, fields) => {
    const dex = dexOf(scene.exchange, fields)
    return dex < 0 ? NOT_FOUND : answer(scene, dex, fields)
  }
}

/** Whether a row lies in the window that is asked for. */
export function isWithin({ startTime = 0, endTime = Number.POSITIVE_INFINITY }: Window) {
  return ({ time }: { readonly time: number }) => time >= startTime && time <= endTime
}
