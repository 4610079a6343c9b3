// The one connection of the page to the gateway, with a token that is replaced when it expires or is rejected.
// Invariant: a page whose access is rejected for good does not retry automatically.

import { Connection } from '../../client/connection.ts'
import type { ConnectionOptions } from '../../client/connection-options.ts'
import type { ClientRuntime, Endpoint } from '../../client/runtime.ts'
import { CONNECTION } from './strings.ts'

/** Where to connect, or why connecting is not possible, whether a retry may help, and the minimum wait before it. */
export type StreamAccess =
  | { readonly ok: true; readonly endpoint: Endpoint }
  | { readonly ok: false; readonly reason: string; readonly isTransient: boolean; readonly waitMs?: number }

const OPTIONS = { retry: { firstMs: 250, capMs: 8_000, jitter: 0.5 }, pingMs: 15_000, deadMs: 25_000 }
/** 1008 includes a used-up visitor budget, which the token endpoint knows about. */
const TOKEN_CLOSE_CODES = [4410, 4401, 1008]

/** `access` runs before each connect; `isFresh` requests a new token because the old one failed. */
export function createStreamConnection(
  runtime: ClientRuntime,
  access: (isFresh: boolean) => Promise<StreamAccess>,
  { onState, ...options }: Pick<ConnectionOptions, 'onState' | 'onNotice'>,
): Connection {
  let endpoint: Endpoint | null = null
  let isFresh = false
  return new Connection(runtime, {
    ...OPTIONS,
    ...options,
    endpoint: () => endpoint,
    admit: async () => {
      const result = await access(isFresh)
      if (result.ok) {
        endpoint = result.endpoint
        // Only an open socket proves that the token works; browsers hide the status of a rejection.
        isFresh = true
        return null
      }
      // Jitter of up to half, so that waiting pages do not all return together.
      const retryMs = result.isTransient ? (result.waitMs ?? 0) * (1 + runtime.random() / 2) : null
      return { reason: result.reason, retryMs }
    },
    onEnd: ({ code, reason }) => {
      if (code !== null && TOKEN_CLOSE_CODES.includes(code)) isFresh = true
      return code === 4410 ? CONNECTION.tokenExpired : reason || CONNECTION.closedWith(code)
    },
    onState: (state) => {
      if (state.state === 'open') isFresh = false
      onState?.(state)
    },
  })
}
