// What is known of a key: the row of D1 as KV and isolates keep it. Law: a hash, never the key.

import * as z from 'zod'
import { holdsAddress } from '../core/address-range.ts'
import type { Failure } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type Identity, PRODUCTS, type Product, productNotAllowed } from './identity.ts'
import { Limits } from './limits.ts'

/** Another version in KV counts as a miss: an older one may lack what restricts a key. */
export const KeyRecord = z.object({
  v: z.literal(2),
  hash: KeyHash,
  account: z.string(),
  kind: z.enum(['api', 'service']),
  plan: z.string(),
  products: z.array(z.enum(PRODUCTS)),
  limits: Limits.optional(),
  /** Ranges that it may be used from, as `parseRange` gives them; null: from anywhere. */
  ranges: z.array(z.string()).nullable(),
  /** Unix ms; null: never. */
  expires: z.number().nullable(),
  revoked: z.number().nullable(),
  /** Another key stands in its place; unknown in copies of before it was kept. */
  replaced: z.boolean().default(false),
  /** Unix ms when D1 said all this; unknown in copies of before it was kept. */
  at: z.number().default(0),
})
export type KeyRecord = z.infer<typeof KeyRecord>

/** What a surface asks of a key. `any` takes both kinds. */
export interface KeyRequirement {
  /** Null: any key enters, whatever it is for. */
  readonly product: Product | null
  readonly kind: 'api' | 'service' | 'any'
  readonly acceptsTokens?: boolean
}

/** Products that a key of each kind is for, unless it was made for fewer. A service key manages; it calls no data API. */
export const PRODUCTS_OF_KIND: Record<'api' | 'service', readonly Product[]> = {
  api: ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'],
  service: ['platform'],
}

/** A key as its holder's pages and stream tokens use it, which ask data also where a service key began them. */
export function withDataAccess(record: KeyRecord): KeyRecord {
  return record.kind === 'service' ? { ...record, kind: 'api', products: [...PRODUCTS_OF_KIND.api] } : record
}

const WRONG_KIND = {
  api: 'This is a service key (cqs_), and data is asked with an API key (cqt_): use one of those.',
  service: 'This is an API key (cqt_), and this endpoint takes a service key (cqs_): use one of those.',
}
const RESTRICTED = 'This key may be used from certain addresses only'
const ADDRESS_UNSURE = `${RESTRICTED}, and this gateway cannot be sure of yours (TRUST_PROXY is off): ask the operator.`
const ADDRESS_ELSEWHERE = `${RESTRICTED}, and yours is none of them: call from one, or ask the operator to add yours.`

/**
 * Whether a known key may enter; `address` is its caller's, null where that is not known for sure. What its holder can
 * do is told first: use the key in its place; then revoked before expired, the stronger reason to stop using it.
 */
export function admit(
  record: KeyRecord,
  entry: KeyRequirement,
  nowMs: number,
  address: string | null,
): Result<Identity, Failure> {
  const isOver = record.expires !== null && record.expires <= nowMs
  if (record.replaced && (record.revoked !== null || isOver)) return err({ kind: 'key_replaced' })
  if (record.revoked !== null) return err({ kind: 'key_revoked' })
  if (isOver) return err({ kind: 'key_expired' })
  if (entry.kind !== 'any' && entry.kind !== record.kind)
    return err({ kind: 'not_entitled', why: WRONG_KIND[entry.kind] })
  const { product } = entry
  if (product !== null && !record.products.includes(product)) return err(productNotAllowed(product))
  if (record.ranges !== null && (address === null || !holdsAddress(record.ranges, address))) {
    return err({ kind: 'not_entitled', why: address === null ? ADDRESS_UNSURE : ADDRESS_ELSEWHERE })
  }
  const { account, hash, kind, plan, products, limits, expires, replaced } = record
  return ok({ v: 1, account, keyHash: hash, kind, plan, products, limits, expires, ...(replaced ? { replaced } : {}) })
}
