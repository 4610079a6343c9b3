// A key row of D1 and the operations on it. Times are Unix ms.

import * as z from 'zod'
import { KeyHash } from '../core/ids.ts'
import type { Product } from './identity.ts'

/** Pipelines a service key may manage: those charged to its rotation chain (`own`), or all of the account. */
export const PIPELINE_RIGHTS = ['own', 'all'] as const
export type PipelineRight = (typeof PIPELINE_RIGHTS)[number]

export const KeyRow = z.object({
  hash: KeyHash,
  prefix: z.string(),
  label: z.string(),
  account: z.string(),
  kind: z.enum(['api', 'service']),
  products: z.string().transform((text): Product[] => JSON.parse(text)),
  created: z.number(),
  expires: z.number().nullable(),
  revoked: z.number().nullable(),
  /** Allowed address ranges; null: any address. */
  ranges: z
    .string()
    .nullable()
    .transform((text): string[] | null => JSON.parse(text ?? 'null')),
  replaced_by: z.string().nullable(),
  /** Total spending limit in micro-credits. */
  cap: z.number().nullable(),
  replaces: KeyHash.nullable(),
  /** First key of its rotation chain; null: this key. */
  root: z.string().nullable(),
  /** Explicit pipeline right; null: the default of `pipelineRight`. */
  pipelines: z.enum(PIPELINE_RIGHTS).nullable(),
})
export type KeyRow = z.infer<typeof KeyRow>

export type KeyName = Pick<KeyRow, 'hash' | 'prefix' | 'label'>

/** First key of this key's rotation chain. */
export const rootOf = ({ hash, root }: Pick<KeyRow, 'hash' | 'root'>) => root ?? hash

/** Description of a key's restriction; null: unrestricted. */
export function restrictionOf({ cap, ranges, expires }: Pick<KeyRow, 'cap' | 'ranges' | 'expires'>): string | null {
  if (cap !== null) return 'has a spending limit'
  if (ranges !== null) return 'is limited to certain addresses'
  return expires === null ? null : 'has an expiry date'
}

/** Pipelines a service key may manage; null for API keys. */
export function pipelineRight(
  key: Pick<KeyRow, 'kind' | 'pipelines' | 'cap' | 'ranges' | 'expires'>,
): PipelineRight | null {
  if (key.kind === 'api') return null
  return key.pipelines ?? (restrictionOf(key) === null ? 'all' : 'own')
}

/** How a key was replaced. `id` is the idempotency key of the request, if it had one. */
export interface Rotation {
  readonly id: string | null
  readonly graceMs: number
  /** End of the old key. */
  readonly endsMs: number
}

/** Changeable fields of a key. An absent field stays unchanged. */
export interface KeyChange {
  readonly label?: string | undefined
  readonly products?: readonly Product[] | undefined
  readonly expires?: number | null | undefined
  /** Micro-credits. */
  readonly cap?: number | null | undefined
  readonly ranges?: readonly string[] | null | undefined
  readonly pipelines?: PipelineRight | null | undefined
}

export interface KeyPosition {
  readonly created: number
  readonly hash: string
}

/** Unrestricted service key for signing in, and the number of API and service keys ever created. */
export interface SignInKey {
  readonly hash: KeyHash | null
  readonly api: number
  readonly service: number
}

/** Maximum number of keys per account. Counts active keys, and keys of any state that were created within a day. */
export const KEYS_MAX = 10_000
/** Limit for rotations: all keys may be rotated within a day, because a leaked key must be replaceable. */
export const ROTATED_MAX = 2 * KEYS_MAX
