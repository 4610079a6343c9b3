// A key record: the D1 row as cached in KV and isolates. Invariant: it contains the hash, never the key.

import * as z from 'zod'
import { holdsAddress } from '../core/address-range.ts'
import type { Failure } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type Identity, PRODUCTS, type Product, productNotAllowed } from './identity.ts'
import { Limits } from './limits.ts'

/** A record of a different version in KV counts as a miss, because an older record may lack a restriction. */
export const KeyRecord = z.object({
  v: z.literal(2),
  hash: KeyHash,
  account: z.string(),
  kind: z.enum(['api', 'service']),
  plan: z.string(),
  products: z.array(z.enum(PRODUCTS)),
  limits: Limits.optional(),
  /** Allowed ranges in the form of `parseRange`; null: any address. */
  ranges: z.array(z.string()).nullable(),
  /** Unix ms; null: never. */
  expires: z.number().nullable(),
  revoked: z.number().nullable(),
  /** Whether a successor key exists; unknown in older copies. */
  replaced: z.boolean().default(false),
  /** Unix ms of the D1 read. Unknown in older copies. */
  at: z.number().default(0),
})
export type KeyRecord = z.infer<typeof KeyRecord>

/** The key that a surface requires. `any` accepts both kinds of keys. */
export interface KeyRequirement {
  /** Null: keys of all products are accepted. */
  readonly product: Product | null
  readonly kind: 'api' | 'service' | 'any'
  readonly acceptsTokens?: boolean
}

/** Default products of each kind of key. A service key manages the account and calls no data API. */
export const PRODUCTS_OF_KIND: Record<'api' | 'service', readonly Product[]> = {
  api: ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'],
  service: ['platform'],
}

/** Gives the owner's pages and stream tokens access to data, even with a service key. */
export function withDataAccess(record: KeyRecord): KeyRecord {
  return record.kind === 'service' ? { ...record, kind: 'api', products: [...PRODUCTS_OF_KIND.api] } : record
}

const WRONG_KIND = {
  api: 'This is a service key (cqs_). Data endpoints need an API key (cqt_).',
  service: 'This is an API key (cqt_). This endpoint needs a service key (cqs_).',
}
const RESTRICTED = 'This key is limited to certain addresses'
const ADDRESS_UNSURE = `${RESTRICTED}, and this gateway cannot verify yours (TRUST_PROXY is off). Ask the operator.`
const ADDRESS_ELSEWHERE = `${RESTRICTED}, and yours is not one of them. Call from an allowed address, or ask the operator to add yours.`

/**
 * Decides whether a known key is accepted. `address` belongs to the caller; null if unknown or forgeable. If several
 * reasons apply, the error gives the most useful: replaced, then revoked, then expired.
 */
export function admit(
  record: KeyRecord,
  requirement: KeyRequirement,
  nowMs: number,
  address: string | null,
): Result<Identity, Failure> {
  const isOver = record.expires !== null && record.expires <= nowMs
  if (record.replaced && (record.revoked !== null || isOver)) return err({ kind: 'key_replaced' })
  if (record.revoked !== null) return err({ kind: 'key_revoked' })
  if (isOver) return err({ kind: 'key_expired' })
  if (requirement.kind !== 'any' && requirement.kind !== record.kind)
    return err({ kind: 'not_entitled', why: WRONG_KIND[requirement.kind] })
  const { product } = requirement
  if (product !== null && !record.products.includes(product)) return err(productNotAllowed(product))
  if (record.ranges !== null && (address === null || !holdsAddress(record.ranges, address))) {
    return err({ kind: 'not_entitled', why: address === null ? ADDRESS_UNSURE : ADDRESS_ELSEWHERE })
  }
  const { account, hash, kind, plan, products, limits, expires, replaced } = record
  return ok({ v: 1, account, keyHash: hash, kind, plan, products, limits, expires, ...(replaced ? { replaced } : {}) })
}
