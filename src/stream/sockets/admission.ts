// How a relay tells the gateway that it does not take a socket. The gateway makes the client's answer of it.

import * as z from 'zod'

/**
 * `full`: try the next relay. `heavy`: try the heavy relays, or where this is one of them: too much is unread. `limit`: the account has as many sockets as its plan allows, or, with `retryAfterMs`, which a gateway of 0.1.0
 * passes over, the key connects too often. `unmetered`: its meter cannot be asked. `left`: what the account has left, in
 * micro-credits.
 */
export const Refusal = z.object({
  why: z.enum(['full', 'heavy', 'limit', 'revoked', 'exhausted', 'unmetered']),
  left: z.number(),
  retryAfterMs: z.number().optional(),
})
export type Refusal = z.infer<typeof Refusal>
