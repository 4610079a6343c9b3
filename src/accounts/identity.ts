// Who is calling, once a key has been checked. Travels from the gateway to relays in an internal header.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'
import { Limits } from './limits.ts'

export const PRODUCTS = ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'] as const
export type Product = (typeof PRODUCTS)[number]

export const PRODUCTS_TEXT =
  '`info`: `POST /info`, and `post` over a socket; `stream`: `/ws`; `platform`: what `/platform` tells of the account, ' +
  'and its pipelines; `data`: balances, and what `/v1` tells and hands out of the history; ' +
  '`rpc`: JSON-RPC, `POST /v1/<chain>`; `graphql`: `/graphql`'

export const KINDS_TEXT =
  '`api`: asks data; `service`: reads `/platform` and manages pipelines, for who manages the account'

export const StreamToken = z.object({
  /** Whose sockets and calls are counted together: a visitor, or the token by itself. */
  holder: z.string(),
  /** Null: all. */
  coins: z.array(z.string()).nullable(),
  channels: z.array(z.string()),
  /** Unix ms. */
  expires: z.number(),
  /** Of visitors without a key: what all of them may spend in an hour (micro-credits), and their sockets at a relay. */
  visitors: z.object({ perHour: z.number(), sockets: z.number() }).optional(),
})
export type StreamToken = Readonly<z.infer<typeof StreamToken>>

export const Identity = z.object({
  v: z.literal(1),
  account: z.string(),
  /** SHA-256 of the key, hex: the key itself never travels past the edge. */
  keyHash: KeyHash,
  kind: z.enum(['api', 'service']),
  plan: z.string(),
  products: z.array(z.enum(PRODUCTS)),
  /** Left out: those that the plan began with. */
  limits: Limits.optional(),
  /** Unix ms; null or left out: never. */
  expires: z.number().nullable().optional(),
  /** Another key stands in its place: it is to be used when this one ends. Left out: no. */
  replaced: z.boolean().optional(),
  /** The caller came with a stream token of the key, and may do no more than it says. */
  token: StreamToken.optional(),
})
export type Identity = z.infer<typeof Identity>

/** Whose free answers and connects are counted together: one visitor with a token is not all who have one of that key. */
export const limiterKey = ({ keyHash, token }: Identity) => token?.holder ?? keyHash

/** Header in which the gateway hands an identity to a relay. The gateway drops it from whatever a client sends. */
export const IDENTITY_HEADER = 'x-weir-identity'

/** The refusal of a key that is not for this product. */
export function productNotAllowed(product: Product): Failure {
  const why = `This key is not for the product "${product}": use another one, or have the product added (PATCH /platform/keys/{key} with a service key of the account).`
  const ownUsage = product === 'platform' ? ' GET /platform/key/ and /platform/key/usage/ answer any key.' : ''
  return { kind: 'not_entitled', why: why + ownUsage }
}
