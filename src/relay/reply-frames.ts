// Frames that a gateway sends beside those of channels, as schemas: published, and read by the client library.

import * as z from 'zod'
import { Height } from '../protocol/feed/block.ts'

export const Ack = z.object({
  channel: z.literal('subscriptionResponse'),
  data: z.object({
    method: z.enum(['subscribe', 'unsubscribe']),
    /** The very body that was sent. */
    subscription: z.looseObject({ type: z.string() }),
  }),
})
/** `code` tells a program what `data` tells a person. */
export const ErrorFrame = z.object({ channel: z.literal('error'), data: z.string(), code: z.string().optional() })
export const Notification = z.object({
  channel: z.literal('notification'),
  data: z.object({ notification: z.string() }),
  code: z.enum(['stale', 'fresh', 'ignored_field']).or(z.string()).optional(),
})
/**
 * With a `nonce` where the ping had one: the next ping returns it. `block_height`: of the last block whose events were
 * sent before, to every subscription of the socket.
 */
export const Pong = z.object({
  channel: z.literal('pong'),
  nonce: z.string().optional(),
  block_height: Height.optional(),
})
/** What becomes of a replay; `from` and `to` are heights. */
export const ReplayEvent = z.object({
  channel: z.literal('replay'),
  data: z.object({
    event: z.enum(['paused', 'playing', 'sought', 'gap', 'unknown', 'live', 'ended']).or(z.string()),
    subscription: z.looseObject({ type: z.string() }),
    from: Height.optional(),
    to: Height.optional(),
  }),
})
export type ReplayEvent = z.infer<typeof ReplayEvent>
export const PostReply = z.object({
  channel: z.literal('post'),
  data: z.object({
    id: z.int(),
    response: z.union([
      z.object({ type: z.literal('info'), payload: z.object({ type: z.string(), data: z.unknown() }) }),
      z.object({ type: z.literal('error'), payload: z.string() }),
    ]),
  }),
})
