// Parses a request body into a call: query, request, cache key and price.

import * as z from 'zod'
import { formatCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from '../../core/json.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { shapeAt } from '../../core/schema-shape.ts'
import { ignoredFields } from '../../core/unknown-fields.ts'
import { parseWith } from '../../core/validation-errors.ts'
import type { Price } from '../../metering/charging.ts'
import { type FreshnessTerms, termsOf } from '../freshness.ts'
import { CATALOGUE, queryOf } from '../queries/catalogue.ts'
import { type AnyQuery, priceOf, usesHistory, usesUpstream } from '../query.ts'

export interface InfoCall {
  readonly query: AnyQuery
  readonly request: { readonly type: string }
  /** Canonical JSON of the request, equal for equivalent requests. */
  readonly key: string
  readonly price: Price
  /** Price as a string for `x-credits-cost`. */
  readonly costText: string
  readonly terms: FreshnessTerms
  /** Unknown fields as a string for `x-ignored-fields`; null: none. */
  readonly ignoredFields: string | null
  /**
   * True if resolving must wait for the hold; otherwise both run concurrently, which saves a round trip to the meter.
   */
  readonly holdsFirst: boolean
  /** True if the call uses an upstream or the history, and can therefore fail. */
  readonly mayFail: boolean
}

const TYPES = CATALOGUE.map(({ type }) => type)

const NO_CURSOR: Failure = {
  kind: 'bad_field',
  issues: [
    {
      path: 'cursor',
      message: 'is not supported by this type, because the gateway has no positions of its rows. Leave it out',
    },
  ],
}

const BodyHead = z.object({ type: z.string() })

/** Parses a body. Fails with `not_json` (also for excessive nesting), `unknown_type` or `bad_field`. */
export function readCall(text: string): Result<InfoCall, Failure> {
  if (isDeeperThan(text))
    return err({ kind: 'not_json', hint: `The request body is nested deeper than ${JSON_MAX_DEPTH} levels.` })
  const body = parseJson(text)
  if (body === undefined) return err({ kind: 'not_json' })
  const head = parse(BodyHead, body)
  if (!head.ok) return head
  const { type } = head.value
  const query = queryOf(type)
  if (!query) return err({ kind: 'unknown_type', type, meant: nearestName(type, TYPES), types: TYPES })
  // A caller that relies on a cursor must not get the first page again and again.
  const { cursor } = body as { readonly cursor?: unknown }
  if (cursor !== undefined && cursor !== null && !Object.hasOwn(shapeAt(query.request, {}, []), 'cursor'))
    return err(NO_CURSOR)
  const request = parse(query.request, body)
  return request.ok ? ok(callOf(query, request.value, ignoredFields(query.request, body as object))) : request
}

/** Upstream request of a type's example; undefined for an unknown type. */
export function exampleRequest(type: string): string | undefined {
  const query = queryOf(type)
  return query && JSON.stringify(query.request.parse({ type, ...query.example.request }))
}

function callOf(query: AnyQuery, request: { readonly type: string }, ignored: string | null): InfoCall {
  const amount = priceOf(query, request)
  const terms = termsOf(query.freshness)
  const mayFail = usesUpstream(query) || usesHistory(query)
  return {
    query,
    request,
    // zod outputs exactly the schema's fields in schema order, so this is canonical.
    key: JSON.stringify(request),
    price: { product: 'info', type: query.type, amount },
    costText: formatCredits(amount),
    terms,
    ignoredFields: ignored,
    // Uncached and history queries are expensive on every call, so callers without credits must not cause them.
    holdsFirst: mayFail || terms.shares === 'next' || query.holdsFirst?.(request) === true,
    mayFail,
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown): Result<T, Failure> {
  const parsed = parseWith(schema, value)
  return parsed.ok ? parsed : err({ kind: 'bad_field', issues: parsed.error })
}

/** Longer bodies are rare and not worth the memory. */
const TEXT_MAX_LENGTH = 2_048
const YOUNG_MAX_LENGTH = 512 * 1024
/** Memory of an entry in addition to its body. */
const ENTRY_LENGTH = 512

/**
 * Caches parsed bodies: clients repeat the same few bodies, and parsing costs more than a cache hit. Two generations
 * bound its size: when the young one is full, the old one is dropped; entries used since then survive. Unlike
 * core/bounded-map.ts, a hit in the young generation writes nothing.
 */
export class CallMemo {
  #young = new Map<string, InfoCall>()
  #old = new Map<string, InfoCall>()
  #length = 0

  get(text: string): InfoCall | undefined {
    const young = this.#young.get(text)
    if (young) return young
    const old = this.#old.get(text)
    if (old) this.set(text, old)
    return old
  }

  set(text: string, call: InfoCall): void {
    if (text.length > TEXT_MAX_LENGTH) return
    if (this.#length > YOUNG_MAX_LENGTH) {
      this.#old = this.#young
      this.#young = new Map()
      this.#length = 0
    }
    this.#young.set(text, call)
    this.#length += text.length + ENTRY_LENGTH
  }
}
