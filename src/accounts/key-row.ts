// A key as D1 has it and as lists show it, and what may become of it. Times are Unix ms.

import * as z from 'zod'
import { KeyHash } from '../core/ids.ts'
import type { Product } from './identity.ts'

/** Pipelines that a service key may touch: those charged to it or to keys of its chain of rotations, or the whole account's. */
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
  /** Ranges of addresses that it may be used from; null: from anywhere. */
  ranges: z
    .string()
    .nullable()
    .transform((text): string[] | null => JSON.parse(text ?? 'null')),
  replaced_by: z.string().nullable(),
  /** Start of the last hour in which it was charged, as far as copied from the meter. */
  last_used: z.number().nullable(),
  /** Micro-credits that it may spend in all. */
  cap: z.number().nullable(),
  replaces: KeyHash.nullable(),
  /** The first key in its chain of rotations; null: it is that itself. */
  root: z.string().nullable(),
  /** Pipelines that it may touch, as it was set; null: what `pipelineRight` says. */
  pipelines: z.enum(PIPELINE_RIGHTS).nullable(),
})
export type KeyRow = z.infer<typeof KeyRow>

export type KeyName = Pick<KeyRow, 'hash' | 'prefix' | 'label'>

/** The first key in the chain of rotations that this key belongs to. */
export const rootOf = ({ hash, root }: Pick<KeyRow, 'hash' | 'root'>) => root ?? hash

/** What restricts a key, in words; null: nothing. */
export function restrictionOf({ cap, ranges, expires }: Pick<KeyRow, 'cap' | 'ranges' | 'expires'>): string | null {
  if (cap !== null) return 'has a cap'
  if (ranges !== null) return 'is for certain addresses alone'
  return expires === null ? null : 'has an end'
}

/** What a service key may touch; null: an API key manages no pipelines. */
export function pipelineRight(
  key: Pick<KeyRow, 'kind' | 'pipelines' | 'cap' | 'ranges' | 'expires'>,
): PipelineRight | null {
  if (key.kind === 'api') return null
  return key.pipelines ?? (restrictionOf(key) === null ? 'all' : 'own')
}

/** How a key was replaced; a retry is known by it. */
export interface Rotation {
  readonly id: string | null
  readonly graceMs: number
  /** When the old key ends. */
  readonly endsMs: number
}

/** What may change of a key; a field left out stays. */
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

/** How who has no key at hand comes in: a service key of a label that nothing restricts; keys of each kind that there ever were. */
export interface SignInKey {
  readonly hash: KeyHash | null
  readonly api: number
  readonly service: number
}

/** Keys that an account's owner may have: those that work, and those made within a day, whatever became of them. */
export const KEYS_MAX = 10_000
/** The same where they are replaced: all of them may be in a day, for one that leaked must not be kept. */
export const ROTATED_MAX = 2 * KEYS_MAX
