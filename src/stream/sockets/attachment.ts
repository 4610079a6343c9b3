// What a socket of a relay carries through hibernation: ids only, for an attachment holds 16 KB.

import * as z from 'zod'
import { Identity } from '../../key/identity.ts'

export const Attachment = z.discriminatedUnion('of', [
  z.object({
    of: z.literal('client'),
    id: z.string(),
    identity: Identity,
    terms: z.number().default(0),
    /** The past is played on it, of which the relay's memory alone knows. */
    isPlaying: z.boolean().default(false),
  }),
  z.object({ of: z.literal('log') }),
  z.object({ of: z.literal('hub'), index: z.int().min(0) }),
])
export type Attachment = z.infer<typeof Attachment>
export type ClientAttachment = Extract<Attachment, { of: 'client' }>

/** Null for a socket that another version accepted and that this one cannot read. */
export function parseAttachment(value: unknown): Attachment | null {
  const parsed = Attachment.safeParse(value)
  return parsed.success ? parsed.data : null
}

export function clientAttachment({ id, identity, terms, isPlaying }: Omit<ClientAttachment, 'of'>): ClientAttachment {
  return { of: 'client', id, identity, terms, isPlaying }
}
