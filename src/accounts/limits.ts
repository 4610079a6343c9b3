// Limits of a key apart from credits: the terms of its account's plan. They are part of the key record and the caller's
// identity, so no surface looks up a plan. Invariant: stored data and data between Workers use the names of `Limits`;
// people see those of `LIMIT_FIELDS`.

import * as z from 'zod'

export const Limits = z.object({
  /**
   * Each key's requests to the REST data API, JSON-RPC and the platform combined. Info has a separate limit. Null:
   * unlimited.
   */
  requestsPerSecond: z.number().nullable(),
  /** Each key's requests to info. The specification has no such limit; this is a generous bound against accidents. */
  infoRequestsPerSecond: z.number(),
  streamConnections: z.number(),
  /** Subscriptions of an account across all its sockets. */
  streamSubscriptions: z.number(),
  /** Frames that one socket may send per minute. */
  streamMessagesPerMinute: z.number(),
})
export type Limits = Readonly<z.infer<typeof Limits>>

/** Names of the limits in plans, requests and error messages. */
export const LIMIT_FIELDS = {
  requestsPerSecond: 'rest_requests_per_second',
  infoRequestsPerSecond: 'info_requests_per_second',
  streamConnections: 'stream_connections',
  streamSubscriptions: 'stream_subscriptions',
  streamMessagesPerMinute: 'stream_messages_per_minute',
} as const satisfies Record<keyof Limits, string>
