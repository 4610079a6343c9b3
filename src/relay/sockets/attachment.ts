// Data of a relay socket that survives hibernation. It contains only ids, because an attachment holds 16 KB.

import * as z from 'zod'
import { Identity } from '../../accounts/identity.ts'

export const Attachment = z.discriminatedUnion('of', [
  z.object({
    of: z.literal('client'),
    id: z.string(),
    identity: Identity,
    terms: z.number().default(0),
    /** A replay runs on the socket. Its state is only in the relay's memory. */
    isPlaying: z.boolean().default(false),
    /** The endpoint that the client connected to. */
    product: z.enum(['stream', 'graphql']).default('stream'),
  }),
  /** A GraphQL socket whose key has not arrived yet, or was rejected as `wrong` says. */
  z.object({
    of: z.literal('guest'),
    id: z.string(),
    address: z.string().nullable(),
    openedMs: z.number(),
    isInit: z.boolean(),
    wrong: z.object({ message: z.string(), code: z.string() }).optional(),
  }),
  z.object({ of: z.literal('log') }),
  z.object({ of: z.literal('hub'), index: z.int().min(0) }),
])
export type Attachment = z.infer<typeof Attachment>
export type ClientAttachment = Extract<Attachment, { of: 'client' }>
export type GuestAttachment = Extract<Attachment, { of: 'guest' }>

/** Null for an attachment that another version wrote and this one cannot read. */
export function parseAttachment(value: unknown): Attachment | null {
  const parsed = Attachment.safeParse(value)
  return parsed.success ? parsed.data : null
}

export function clientAttachment(client: Omit<ClientAttachment, 'of'>): ClientAttachment {
  const { id, identity, terms, isPlaying, product } = client
  return { of: 'client', id, identity, terms, isPlaying, product }
}
