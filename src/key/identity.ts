// Who is calling, once a key has been checked. Travels from the gateway to relays in an internal header.

import * as z from 'zod'
import { Limits } from './limits.ts'

export const PRODUCTS = ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'] as const
export type Product = (typeof PRODUCTS)[number]

export const Identity = z.object({
  v: z.literal(1),
  account: z.string(),
  /** SHA-256 of the key, hex: the key itself never travels past the edge. */
  keyHash: z.string(),
  kind: z.enum(['api', 'service']),
  plan: z.string(),
  products: z.array(z.enum(PRODUCTS)),
  /** Left out by a gateway of the version before: the plan's own then. */
  limits: Limits.optional(),
  /** Unix ms; null or left out: never. */
  expires: z.number().nullable().optional(),
})
export type Identity = z.infer<typeof Identity>

/** Header in which the gateway hands an identity to a relay. The gateway drops it from whatever a client sends. */
export const IDENTITY_HEADER = 'x-weir-identity'
