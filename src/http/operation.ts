// An operation of an HTTP surface as data: what its route parses with is what the published document says of it.

import type * as z from 'zod'
import type { Product } from '../accounts/identity.ts'
import type { StaffRole } from '../accounts/staff.ts'
import type { MicroCredits } from '../core/amount.ts'

/** An answer with its status: what it is, its shape and an example of it. */
interface OperationResponse {
  readonly description: string
  readonly schema: z.ZodType
  readonly example: unknown
}

export interface Operation<Body = unknown, Query = unknown> {
  /** Unique in the document. Where it costs credits, the type that usage is recorded under. */
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With its parameters in braces: `/admin/accounts/{id}`. One that ends in a slash is served without it, too. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Who may call it: the operator, whoever has a key of either kind, or whoever has a service key. */
  readonly auth: 'admin' | 'key' | 'service'
  readonly role?: StaffRole
  /** What a key must be for, and whose rate limit counts; left out: `platform`. */
  readonly product?: Product
  /** Any key may call it, whatever products it is for: what a key may know of itself. */
  readonly acceptsAnyKey?: true
  /** What a 2xx costs, with a key; left out: nothing. */
  readonly price?: MicroCredits
  /** In place of it, in words, where each answer says what it costs. */
  readonly priceText?: string
  readonly params?: Readonly<Record<string, z.ZodType<string>>>
  /** Left out: the operator's API refuses every parameter, others ignore them. */
  readonly query?: z.ZodType<Query>
  readonly body?: {
    readonly schema: z.ZodType<Body>
    readonly optional: boolean
    readonly example: unknown
    /** It is no JSON but gzip of text, which the schema reads, and which has at most so many bytes. */
    readonly gzipBytes?: number
    /** Of JSON; left out: 16 KiB. */
    readonly maxBytes?: number
  }
  readonly responses: Readonly<Record<number, OperationResponse>>
  /** Statuses of its refusals beside those that every operation of its door has. */
  readonly refusals: readonly number[]
}

export const roleFor = ({ role, method }: Pick<Operation, 'role' | 'method'>): StaffRole =>
  role ?? (method === 'get' ? 'support' : 'owner')
