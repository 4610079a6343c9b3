// An operation of an HTTP surface as data: what its route parses with is what the published document says of it.

import type * as z from 'zod'

/** An answer with its status: what it is, its shape and an example of it. */
export interface OperationAnswer {
  readonly description: string
  readonly schema: z.ZodType
  readonly example: unknown
}

export interface Operation<Body = unknown, Query = unknown> {
  /** Unique in the document. */
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With its parameters in braces: `/admin/accounts/{id}`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Who may call it: the operator, or whoever has a key. */
  readonly door: 'admin' | 'key'
  /** The parameters of the path, by name. */
  readonly params?: Readonly<Record<string, z.ZodType<string>>>
  readonly query?: z.ZodType<Query>
  readonly body?: { readonly schema: z.ZodType<Body>; readonly optional: boolean; readonly example: unknown }
  readonly answers: Readonly<Record<number, OperationAnswer>>
  /** Statuses of its refusals beside those that every operation of its door has. */
  readonly refusals: readonly number[]
}
