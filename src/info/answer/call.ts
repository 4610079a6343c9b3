// A request body, read once: which query, the parsed request, its cache key and its price.

import * as z from 'zod'
import { formatCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from '../../core/json.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { ignoredFields } from '../../core/unknown-fields.ts'
import { parseWith } from '../../core/validation-errors.ts'
import type { Price } from '../../metering/charging.ts'
import { type FreshnessTerms, termsOf } from '../freshness.ts'
import { CATALOGUE, queryOf } from '../queries/catalogue.ts'
import { type AnyQuery, priceOf, usesHistory, usesUpstream } from '../query.ts'

export interface InfoCall {
  readonly query: AnyQuery
  readonly request: { readonly type: string }
  /** Canonical JSON of the request: equal for requests that mean the same, whatever they were spelled like. */
  readonly key: string
  readonly price: Price
  /** The price as `x-credits-cost` says it. */
  readonly costText: string
  readonly terms: FreshnessTerms
  /** Fields of the body that its type does not have, as `x-ignored-fields` names them; null: none. */
  readonly ignoredFields: string | null
  /** Resolved only once the hold is granted; otherwise at the same time, which saves a round trip to the meter. */
  readonly holdsFirst: boolean
  /** An upstream or the history is asked: work that may come to nothing. */
  readonly mayFail: boolean
}

const TYPES = CATALOGUE.map(({ type }) => type)

const BodyHead = z.object({ type: z.string() })

/** Reads a body. Failures: `not_json` (also for nesting without end), `unknown_type`, `bad_field` naming the field. */
export function readCall(text: string): Result<InfoCall, Failure> {
  if (isDeeperThan(text))
    return err({ kind: 'not_json', hint: `The request body nests deeper than ${JSON_MAX_DEPTH} levels.` })
  const body = parseJson(text)
  if (body === undefined) return err({ kind: 'not_json' })
  const head = parse(BodyHead, body)
  if (!head.ok) return head
  const { type } = head.value
  const query = queryOf(type)
  if (!query) return err({ kind: 'unknown_type', type, meant: nearestName(type, TYPES), types: TYPES })
  const request = parse(query.request, body)
  return request.ok ? ok(callOf(query, request.value, ignoredFields(query.request, body as object))) : request
}

/** The example of a type as it travels upstream, undefined where there is no such type. */
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
    // zod puts out the fields in the order of the schema and nothing else, so this is canonical.
    key: JSON.stringify(request),
    price: { product: 'info', type: query.type, amount },
    costText: formatCredits(amount),
    terms,
    ignoredFields: ignored,
    // What is never kept costs its full work again and again, and a history is long: nobody without credits may cause it.
    holdsFirst: mayFail || terms.shares === 'next' || query.holdsFirst?.(request) === true,
    mayFail,
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown): Result<T, Failure> {
  const parsed = parseWith(schema, value)
  return parsed.ok ? parsed : err({ kind: 'bad_field', issues: parsed.error })
}

/** Longer texts are rare and cost more memory than time. */
const TEXT_MAX_LENGTH = 2_048
const YOUNG_MAX_LENGTH = 512 * 1024
/** What an entry costs beside its text. */
const ENTRY_LENGTH = 512

/**
 * Remembers what bodies were read as: clients send the same few texts again and again, and reading one costs more than
 * answering it from the cache. Two generations bound it: when the young one is full the old one is forgotten, and what was
 * asked for again stays, though finding it writes nothing (core/bounded-map.ts would forget it with its age).
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
