// Schemas of the gateway frames that do not belong to a channel. They are published, and the client library reads them.

import * as z from 'zod'
import { Height } from '../protocol/feed/block.ts'

export const Ack = z.object({
  channel: z.literal('subscriptionResponse'),
  data: z.object({
    method: z.enum(['subscribe', 'unsubscribe']),
    /** The body exactly as sent. */
    subscription: z.looseObject({ type: z.string() }),
  }),
})
/** `code` is machine-readable, `data` is for people. */
export const ErrorFrame = z.object({ channel: z.literal('error'), data: z.string(), code: z.string().optional() })
export const Notification = z.object({
  channel: z.literal('notification'),
  data: z.object({ notification: z.string() }),
  code: z.enum(['stale', 'fresh', 'ignored_field', 'late']).or(z.string()).optional(),
  /** Of `late`: age of the oldest unread frame, in milliseconds. */
  age_ms: z.int().optional(),
})
/**
 * `nonce` answers a ping with a nonce; the next ping must return it. `block_height`: the last block whose events were
 * sent to every subscription of the socket before this pong.
 */
export const Pong = z.object({
  channel: z.literal('pong'),
  nonce: z.string().optional(),
  block_height: Height.optional(),
})
/** Progress of a replay; `from` and `to` are heights. */
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
      z.object({
        type: z.literal('info'),
        payload: z.object({
          type: z.string(),
          data: z.unknown(),
          nextCursor: z.string().optional().describe('Cursor of the next page; absent: no further page'),
        }),
      }),
      z.object({ type: z.literal('error'), payload: z.string() }),
    ]),
  }),
})
