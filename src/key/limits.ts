// What a key may do per second, per minute and at once, apart from credits: the terms of its account's plan. They travel
// with the key's record and with the identity of a caller, so that no surface has to look a plan up.

import * as z from 'zod'

export const Limits = z.object({
  /** REST data API, JSON-RPC and platform, per key. Null: no limit. */
  requestsPerSecond: z.number().nullable(),
  /** The specification has no limit for info; a generous bound against accidents. */
  infoRequestsPerSecond: z.number(),
  /** Open sockets of an account. */
  streamConnections: z.number(),
  /** Subscriptions of an account, over all its sockets. */
  streamSubscriptions: z.number(),
  /** Frames that one socket may send. */
  streamMessagesPerMinute: z.number(),
})
export type Limits = Readonly<z.infer<typeof Limits>>
