// The page's one connection to the gateway: the client library's, with a token that is fetched anew where it has ended or did
// not do. Invariant: a page that is refused does not try again by itself.

import { Connection } from '../../client/connection.ts'
import type { ConnectionOptions } from '../../client/connection-options.ts'
import type { ClientRuntime, Endpoint } from '../../client/runtime.ts'

/** Where to connect; or why not, whether that may pass, and how soon at the earliest. */
export type StreamAccess =
  | { readonly ok: true; readonly endpoint: Endpoint }
  | { readonly ok: false; readonly reason: string; readonly isTransient: boolean; readonly waitMs?: number }

const OPTIONS = { retry: { firstMs: 250, capMs: 8_000, jitter: 0.5 }, pingMs: 15_000, deadMs: 25_000 }
/** Among what 1008 says: visitors have spent what they may, which whoever gives tokens knows. */
const TOKEN_CLOSE_CODES = [4410, 4401, 1008]

/** `pass`: asked before each connect; `isFresh`: a token that was used before did not do. */
export function createStreamConnection(
  runtime: ClientRuntime,
  pass: (isFresh: boolean) => Promise<StreamAccess>,
  { onState, ...options }: Pick<ConnectionOptions, 'onState' | 'onNotice'>,
): Connection {
  let endpoint: Endpoint | null = null
  let isFresh = false
  return new Connection(runtime, {
    ...OPTIONS,
    ...options,
    endpoint: () => endpoint,
    admit: async () => {
      const found = await pass(isFresh)
      if (found.ok) {
        endpoint = found.endpoint
        // Until it opens nobody knows whether the token did; the status of a refusal is hidden from pages.
        isFresh = true
        return null
      }
      // Half as long again at most: all who were told to wait do not come at once.
      const retryMs = found.isTransient ? (found.waitMs ?? 0) * (1 + runtime.random() / 2) : null
      return { reason: found.reason, retryMs }
    },
    onEnd: ({ code, reason }) => {
      if (code !== null && TOKEN_CLOSE_CODES.includes(code)) isFresh = true
      return code === 4410 ? 'the token ended, another one is fetched' : reason || `closed with ${code ?? 'nothing'}`
    },
    onState: (state) => {
      if (state.state === 'open') isFresh = false
      onState?.(state)
    },
  })
}
