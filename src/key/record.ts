// What is known of a key: the row of D1 as KV and isolates keep it. Law: a hash, never the key.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { holdsAddress } from './address-range.ts'
import { type Identity, PRODUCTS, type Product } from './identity.ts'
import { Limits } from './limits.ts'

/** Another version in KV counts as a miss: an older one may lack what restricts a key. */
export const KeyRecord = z.object({
  v: z.literal(2),
  hash: z.string(),
  account: z.string(),
  kind: z.enum(['api', 'service']),
  plan: z.string(),
  products: z.array(z.enum(PRODUCTS)),
  limits: Limits.optional(),
  /** Ranges that it may be used from, as `parseRange` gives them; null: from anywhere. */
  ranges: z.array(z.string()).nullable(),
  /** Unix ms; null: never. */
  expires: z.number().nullable(),
  /** Unix ms; null: not revoked. */
  revoked: z.number().nullable(),
  /** Unix ms when D1 said all this; unknown in copies of before it was kept. */
  at: z.number().default(0),
})
export type KeyRecord = z.infer<typeof KeyRecord>

/** What a surface asks of a key. `any` takes both kinds. */
export interface Entry {
  readonly product: Product
  readonly kind: 'api' | 'service' | 'any'
}

/** Products that a key of each kind is for, unless it was made for fewer. A service key manages; it calls no data API. */
export const PRODUCTS_OF_KIND: Record<'api' | 'service', readonly Product[]> = {
  api: ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'],
  service: ['platform'],
}

/**
 * Whether a known key may enter; `address` is its caller's, null where that is not known for sure. Revoked is told before expired: it is the stronger
 * reason to stop using the key.
 */
export function admit(
  record: KeyRecord,
  entry: Entry,
  nowMs: number,
  address: string | null,
): Result<Identity, Failure> {
  if (record.revoked !== null) return err({ kind: 'key_revoked' })
  if (record.expires !== null && record.expires <= nowMs) return err({ kind: 'key_expired' })
  if (entry.kind !== 'any' && entry.kind !== record.kind) {
    const wanted =
      entry.kind === 'service' ? 'this endpoint: it takes a service key (cqs_)' : 'data: use an API key (cqt_)'
    return err({ kind: 'not_entitled', to: wanted })
  }
  if (!record.products.includes(entry.product))
    return err({ kind: 'not_entitled', to: `the product "${entry.product}"` })
  if (record.ranges !== null && (address === null || !holdsAddress(record.ranges, address))) {
    const from = address === null ? 'calls whose address this gateway cannot be sure of (TRUST_PROXY)' : 'your address'
    return err({ kind: 'not_entitled', to: `${from}: it is restricted to ranges of addresses` })
  }
  const { account, hash, kind, plan, products, limits, expires } = record
  return ok({ v: 1, account, keyHash: hash, kind, plan, products, limits, expires })
}
