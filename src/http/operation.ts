// An HTTP operation as data: the route parses with the same schemas that the OpenAPI document publishes.

import type * as z from 'zod'
import type { Product } from '../accounts/identity.ts'
import type { StaffRole } from '../accounts/staff.ts'
import type { MicroCredits } from '../core/amount.ts'

/** One response: description, schema and example. */
interface OperationResponse {
  readonly description: string
  readonly schema: z.ZodType
  readonly example: unknown
}

export interface Operation<Body = unknown, Query = unknown> {
  /** Unique OpenAPI operation id; for a paid operation also the type under which usage is recorded. */
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Path with parameters in braces, such as `/admin/accounts/{id}`. A trailing slash is optional for callers. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Required authentication: operator token, any key, or service key. */
  readonly auth: 'admin' | 'key' | 'service'
  readonly role?: StaffRole
  /** Product that the key needs and whose rate limit applies; default `platform`. */
  readonly product?: Product
  /** Accepts keys of any product, for information about the key itself. */
  readonly acceptsAnyKey?: true
  /** Price of a 2xx response; absent: free. */
  readonly price?: MicroCredits
  /** Price in words, if each response has its own price. */
  readonly priceText?: string
  readonly params?: Readonly<Record<string, z.ZodType<string>>>
  /** If absent, the operator's API rejects query parameters and other surfaces ignore them. */
  readonly query?: z.ZodType<Query>
  readonly body?: {
    readonly schema: z.ZodType<Body>
    readonly optional: boolean
    readonly example: unknown
    /** The body is gzipped text instead of JSON, with at most this many bytes unpacked. */
    readonly gzipBytes?: number
    /** The handler gets the chunks of the body, which are not read into memory. The schema only describes them. */
    readonly isBinary?: true
    /** Maximum size of a JSON body; default 16 KiB. */
    readonly maxBytes?: number
  }
  readonly responses: Readonly<Record<number, OperationResponse>>
  /** Error statuses in addition to those implied by `auth`. */
  readonly refusals: readonly number[]
}

export const roleFor = ({ role, method }: Pick<Operation, 'role' | 'method'>): StaffRole =>
  role ?? (method === 'get' ? 'support' : 'owner')
