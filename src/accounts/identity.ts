// Identity of an authenticated caller. The gateway passes it to relays in an internal header.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'
import { Limits } from './limits.ts'
import { MEMBER_ROLES } from './members.ts'

export const PRODUCTS = ['info', 'stream', 'rpc', 'data', 'graphql', 'platform'] as const
export type Product = (typeof PRODUCTS)[number]

export const PRODUCTS_TEXT =
  '`info`: `POST /info`, and `post` over a socket; `stream`: `/ws`; `platform`: account data of `/platform`, ' +
  'and pipelines; `data`: balances, history endpoints and downloads under `/v1`; ' +
  '`rpc`: JSON-RPC, `POST /v1/<chain>`; `graphql`: `/graphql`'

export const KINDS_TEXT =
  '`api`: reads market data; `service`: reads `/platform` and manages pipelines and keys of the account'

export const StreamToken = z.object({
  /** Identifies a visitor or a token. Limits count the sockets and calls of each holder. */
  holder: z.string(),
  /** Null: all coins. */
  coins: z.array(z.string()).nullable(),
  channels: z.array(z.string()),
  /** Unix ms. */
  expires: z.number(),
  /**
   * Only for visitors who have no key: hourly spending limit of all visitors together (micro-credits), and their
   * maximum sockets per relay.
   */
  visitors: z.object({ perHour: z.number(), sockets: z.number() }).optional(),
})
export type StreamToken = Readonly<z.infer<typeof StreamToken>>

export const Identity = z.object({
  v: z.literal(1),
  account: z.string(),
  /** SHA-256 of the key in hex. The key itself never leaves the edge. */
  keyHash: KeyHash,
  kind: z.enum(['api', 'service']),
  plan: z.string(),
  products: z.array(z.enum(PRODUCTS)),
  /** Absent: the plan's initial limits. */
  limits: Limits.optional(),
  /** Unix ms; null or absent: never. */
  expires: z.number().nullable().optional(),
  /** Whether a successor key exists. It must be used once this key has ended. Absent: no. */
  replaced: z.boolean().optional(),
  /** The caller used a stream token of the key and is restricted to its scope. */
  token: StreamToken.optional(),
  /** The caller used a session of the console. A member of the account is restricted to the role. */
  session: z
    .object({ id: z.string(), member: z.object({ id: z.string(), role: z.enum(MEMBER_ROLES) }).nullable() })
    .optional(),
})
export type Identity = z.infer<typeof Identity>

/**
 * Key of the limiter for unbilled responses and connects. Each visitor with a token is limited separately from other
 * visitors who use the same key.
 */
export const limiterKey = ({ keyHash, token }: Identity) => token?.holder ?? keyHash

/** Header in which the gateway passes an identity to a relay. The gateway strips it from client requests. */
export const IDENTITY_HEADER = 'x-weir-identity'

/** Failure for a key that has no access to this product. */
export function productNotAllowed(product: Product): Failure {
  const why = `This key has no access to the product "${product}". Use another key, or add the product with a service key of the account (PATCH /platform/keys/{key}).`
  const ownUsage = product === 'platform' ? ' GET /platform/key/ and /platform/key/usage/ accept any key.' : ''
  return { kind: 'not_entitled', why: why + ownUsage }
}
