// What a query must tell about itself. One file per wire type under queries/, spelled as on the wire;
// the surface (info-service.ts) knows nothing else of a type, and a resolver sees only the sources that it needs.

import type * as z from 'zod'
import type { MicroCredits } from '../core/amount.ts'
import type { Failure } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import { ONE_CREDIT } from '../metering/tariff.ts'
import type { HeightAndTime } from '../protocol/feed/durable-api.ts'
import type { Freshness } from './freshness.ts'
import type { Sources } from './ports.ts'

/** Message for a value that only the exchange can validate. */
export const NOT_KNOWN = 'is not known to the exchange, or not accepted there'

/** A body ready to be sent, and the block that it reflects where that is known. */
export interface InfoAnswer {
  readonly body: string
  readonly height?: number
  /** How late the clock of its source was, where that was later than it should be. */
  readonly lagMs?: number
  /** Of an answer from our own history: from this block on nothing is missing. */
  readonly since?: HeightAndTime
}

/** A request without its `type`, and an answer to it. */
interface Example {
  readonly request: Readonly<Record<string, unknown>>
  readonly response: unknown
}

/** What a query costs that goes through everything that is held of a wallet, or through an hour of the archive. */
export const HISTORY_PRICE: MicroCredits = 10 * ONE_CREDIT

/** What a query over every DEX costs, however many there are. */
export const ALL_DEXES_PRICE: MicroCredits = 10 * ONE_CREDIT

export interface InfoQuery<Req extends { readonly type: string }, Needs extends keyof Sources> {
  readonly type: Req['type']
  readonly summary: string
  /** For the published document; the shared tests send this request. Fits the schemas below. */
  readonly example: Example
  /** Its output, as JSON, is the cache key and what travels upstream: extra fields dropped, addresses lower-cased. */
  readonly request: z.ZodType<Req>
  /** What a client may rely on. Checked in tests and published; never run on the hot path, never transforming. */
  readonly response: z.ZodType
  /** Micro-credits, known before any work. */
  readonly price: MicroCredits | ((request: Req) => MicroCredits)
  readonly freshness: Freshness
  /** Where it is a source or history, it is resolved only after its hold is granted. */
  readonly needs: readonly Needs[]
  /** Requests of which that is true as well, because they read whole books. */
  readonly holdsFirst?: (request: Req) => boolean
  /** Upstream types that an answer is made of, where they are others than the query's own. */
  readonly upstreamTypes?: readonly string[]
  readonly resolve: (request: Req, from: Pick<Sources, Needs>) => Promise<Result<InfoAnswer, Failure>>
}

/** Any query, its request type forgotten: `resolve` and `price` take what its own `request` schema put out. */
export type AnyQuery = InfoQuery<{ readonly type: string }, keyof Sources>

/** Keeps a definition's own types while checking it, and forgets them for the catalogue. Without a price: one credit. */
export function defineQuery<Req extends { readonly type: string }, const Needs extends keyof Sources>(
  query: Omit<InfoQuery<Req, Needs>, 'price'> & Partial<Pick<InfoQuery<Req, Needs>, 'price'>>,
): AnyQuery {
  return { price: ONE_CREDIT, ...query } as unknown as AnyQuery
}

/** Price of one parsed request, in micro-credits. */
export function priceOf(query: AnyQuery, request: { readonly type: string }): MicroCredits {
  return typeof query.price === 'function' ? query.price(request) : query.price
}

/** Whether it is answered from what Weir has seen. */
export function usesHistory(query: AnyQuery): boolean {
  return query.needs.includes('history') || query.needs.includes('events')
}

/** Whether anything outside Weir may be asked for this query. */
export function usesUpstream(query: AnyQuery): boolean {
  return query.needs.includes('upstream') || query.needs.includes('dexes')
}

/** The types that an upstream has to serve for this query; a wildcard over every DEX asks for `perpDexs` besides. */
export function upstreamTypesOf(query: AnyQuery): readonly string[] {
  return usesUpstream(query) ? (query.upstreamTypes ?? [query.type]) : []
}

/** How late an answer is that is made of others: as late as the latest of those that there are. */
export function latenessOf(parts: readonly Result<InfoAnswer, Failure>[]): Pick<InfoAnswer, 'lagMs'> {
  const lagMs = Math.max(0, ...parts.map((part) => (part.ok ? (part.value.lagMs ?? 0) : 0)))
  return lagMs === 0 ? {} : { lagMs }
}
