// Definition of an info query. Each wire type has one file in queries/, spelled as on the wire. The service
// (info-service.ts) knows only this interface, and a resolver sees only the sources it needs.

import type * as z from 'zod'
import type { MicroCredits } from '../core/amount.ts'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import { ONE_CREDIT } from '../metering/tariff.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import type { Freshness } from './freshness.ts'
import type { Sources } from './ports.ts'

/** Message for a value that only the exchange can validate. */
export const NOT_KNOWN = 'is unknown to the exchange or not accepted there'

/** A response body and the block that it reflects, if known. */
export interface InfoAnswer {
  readonly body: string
  readonly height?: number
  /** Lag of the source's clock in milliseconds, if it is above the limit. */
  readonly lagMs?: number
  /** For responses from our own history: they are complete starting at this block. */
  readonly since?: HeightAndTime
  /** The source contradicts itself, so an older response is better. */
  readonly isDoubtful?: true
  /** Number of closed positions that the response leaves out, because their opening or a change of them is unknown. */
  readonly omittedTrades?: number
  /** For lists that page by row: the cursor of the next page. */
  readonly nextCursor?: string
}

/** An example request without `type`, and its response. */
interface Example {
  readonly request: Readonly<Record<string, unknown>>
  readonly response: unknown
}

/** Price of a query that reads a wallet's whole history or an hour of the archive. */
export const HISTORY_PRICE: MicroCredits = 10 * ONE_CREDIT

/** Price of a query over all DEXes, independent of their number. */
export const ALL_DEXES_PRICE: MicroCredits = 10 * ONE_CREDIT

export interface InfoQuery<Req extends { readonly type: string }, Needs extends keyof Sources> {
  readonly type: Req['type']
  readonly summary: string
  /** Published example, also sent by the shared tests; it must match the schemas. */
  readonly example: Example
  /** Its output as JSON is the cache key and the upstream request: unknown fields dropped, addresses in lower case. */
  readonly request: z.ZodType<Req>
  /**
   * Published response schema. Only tests check it, and it never transforms values. A function, because the schemas of all
   * responses would take a third of an isolate's start.
   */
  readonly response: () => z.ZodType
  /** Price in micro-credits, which is computed before any work starts. */
  readonly price: MicroCredits | ((request: Req) => MicroCredits)
  readonly freshness: Freshness
  /** Sources that the resolver uses. Upstream and history are used only after the hold is granted. */
  readonly needs: readonly Needs[]
  /** Further requests that need the hold first, because they read whole order books. */
  readonly holdsFirst?: (request: Req) => boolean
  /** Upstream types that the response is composed of, if they differ from the query's own type. */
  readonly upstreamTypes?: readonly string[]
  readonly resolve: (request: Req, from: Pick<Sources, Needs>) => Promise<Result<InfoAnswer, Failure>>
}

/** A query with its types erased: `resolve` and `price` accept the output of its `request` schema. */
export type AnyQuery = InfoQuery<{ readonly type: string }, keyof Sources>

/** Checks a query with its own types, then erases them for the catalog. Default price: one credit. */
export function defineQuery<Req extends { readonly type: string }, const Needs extends keyof Sources>(
  query: Omit<InfoQuery<Req, Needs>, 'price'> & Partial<Pick<InfoQuery<Req, Needs>, 'price'>>,
): AnyQuery {
  return { price: ONE_CREDIT, ...query } as unknown as AnyQuery
}

/** Price of a parsed request, in micro-credits. */
export function priceOf(query: AnyQuery, request: { readonly type: string }): MicroCredits {
  return typeof query.price === 'function' ? query.price(request) : query.price
}

/** True if the query reads our own history. */
export function usesHistory(query: AnyQuery): boolean {
  return query.needs.includes('history') || query.needs.includes('events')
}

/** True if the query may call an upstream source. */
export function usesUpstream(query: AnyQuery): boolean {
  return query.needs.includes('upstream') || query.needs.includes('dexes')
}

/** Types that an upstream must serve for this query; wildcards also need `perpDexs`. */
export function upstreamTypesOf(query: AnyQuery): readonly string[] {
  return usesUpstream(query) ? (query.upstreamTypes ?? [query.type]) : []
}

/** Lag of a composed response: the maximum over its parts. */
export function latenessOf(parts: readonly Result<InfoAnswer, Failure>[]): Pick<InfoAnswer, 'lagMs'> {
  const lagMs = Math.max(0, ...parts.map((part) => (part.ok ? (part.value.lagMs ?? 0) : 0)))
  return lagMs === 0 ? {} : { lagMs }
}
