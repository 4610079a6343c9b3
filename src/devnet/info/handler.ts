// Common parts of the /info handlers: the context of a query, and one function per query.

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

/** Fields of requests, parsed by the schemas of their queries. A query has only some of them. */
export interface RequestFields extends Window {
  readonly user: string
  readonly coin: string
  /** Undefined for the main DEX. */
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

/** Result of a query that names something that does not exist. The public server then returns 500 and `null`. */
export const NOT_FOUND = Symbol('nothing')

// biome-ignore lint/suspicious/noExplicitAny: examples of many shapes, which their schemas know
type Example = any

/**
 * Returns a value for JSON.stringify, or NOT_FOUND. `example`: the query's example, adapted to the current exchange.
 */
export type InfoHandler = (context: InfoContext, fields: RequestFields, example: Example) => unknown
export type InfoHandlers = Readonly<Record<string, InfoHandler>>

/** The market of a coin; undefined if this exchange's scale has no such coin. */
export function listedMarket({ scale }: Exchange, coin: string): Market | undefined {
  const market = marketOf(coin)
  return market !== undefined && market.id < scale.markets.length ? market : undefined
}

/** Index of the requested DEX; -1 if it does not exist. */
export const dexOf = ({ scale }: Exchange, { dex = '' }: Pick<RequestFields, 'dex'>) => scale.dexes.indexOf(dex)

/** Wraps a handler that needs the index of the requested DEX. Returns NOT_FOUND if the DEX does not exist. */
export function forDex(handler: (context: InfoContext, dex: number, fields: RequestFields) => unknown): InfoHandler {
  return (context, fields) => {
    const dex = dexOf(context.exchange, fields)
    return dex < 0 ? NOT_FOUND : handler(context, dex, fields)
  }
}

/** True if a row is in the requested window. */
export function isWithin({ startTime = 0, endTime = Number.POSITIVE_INFINITY }: Window) {
  return ({ time }: { readonly time: number }) => time >= startTime && time <= endTime
}
