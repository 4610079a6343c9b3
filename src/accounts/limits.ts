// What a key may do per second, per minute and at once, apart from credits: the terms of its account's plan. They travel
// with the key's record and with the identity of a caller, so that no surface has to look a plan up. Law: what is stored
// and what the Workers tell each other has the names of `Limits`, and keeps them; people read those of `LIMIT_FIELDS`.

import * as z from 'zod'

export const Limits = z.object({
  /** REST data API, JSON-RPC and platform together, per key; not info. Null: no limit. */
  requestsPerSecond: z.number().nullable(),
  /** Per key. The specification has no limit for info; a generous bound against accidents. */
  infoRequestsPerSecond: z.number(),
  streamConnections: z.number(),
  /** Subscriptions of an account, over all its sockets. */
  streamSubscriptions: z.number(),
  /** Frames that one socket may send. */
  streamMessagesPerMinute: z.number(),
})
export type Limits = Readonly<z.infer<typeof Limits>>

/** What a limit is called in plans, in requests and in refusals. */
export const LIMIT_FIELDS = {
  requestsPerSecond: 'rest_requests_per_second',
  infoRequestsPerSecond: 'info_requests_per_second',
  streamConnections: 'stream_connections',
  streamSubscriptions: 'stream_subscriptions',
  streamMessagesPerMinute: 'stream_messages_per_minute',
} as const satisfies Record<keyof Limits, string>
