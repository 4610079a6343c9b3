// A key as D1 has it and as lists show it, and what may become of it. Times are Unix ms.

import * as z from 'zod'
import type { Product } from './identity.ts'

export const KeyRow = z.object({
  hash: z.string(),
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
  /** Hash of the key that replaced it by rotation. */
  replaced_by: z.string().nullable(),
  /** Start of the last hour in which it was charged, as far as copied from the meter. */
  last_used: z.number().nullable(),
  /** Micro-credits that it may spend in all. */
  cap: z.number().nullable(),
})
export type KeyRow = z.infer<typeof KeyRow>

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
}

/** Where a key stands in the list of its account. */
export interface KeyPlace {
  readonly created: number
  readonly hash: string
}

/** How who has no key at hand comes in: a service key of a label that nothing restricts; keys of each kind that there ever were. */
export interface Entrance {
  readonly hash: string | null
  readonly api: number
  readonly service: number
}

/** Keys that an account's owner may have: those that work, and those made within a day, whatever became of them. */
export const KEYS_MAX = 10_000
/** The same where they are replaced: all of them may be in a day, for one that leaked must not be kept. */
export const ROTATED_MAX = 2 * KEYS_MAX
