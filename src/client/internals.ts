// Internals that the parts of the client package share: the open handles of a client. Each handle is ended once, by the
// user, by the gateway or by the client. Parts that are loaded separately find the internals with a registered symbol,
// which is the same in every copy of the package.

import type { End } from './api.ts'
import type { Connection } from './connection.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import type { SubscriptionBody } from './subscription.ts'
import { ABORTED, CLOSED, WeirError } from './weir-error.ts'

/** The part of an AbortSignal that the client uses. */
export interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface OpenHandle {
  readonly isEnded: () => boolean
  /** Ends the handle for this reason. */
  readonly end: (end: End) => void
  readonly close: () => void
}

export class OpenHandles {
  readonly #all = new Set<OpenHandle>()
  #end: End | null = null

  get size(): number {
    return this.#all.size
  }

  /** Adds a handle. `free` is called once. If the client has already ended, it is called soon after. */
  add(free: (end: End) => void, signal?: Signal | undefined): OpenHandle {
    let isOver = false
    const abort = () => handle.end(ABORTED)
    const handle: OpenHandle = {
      isEnded: () => isOver,
      end: (end) => {
        if (isOver) return
        isOver = true
        this.#all.delete(handle)
        signal?.removeEventListener('abort', abort)
        free(end)
      },
      close: () => handle.end(CLOSED),
    }
    this.#all.add(handle)
    const finished = this.#end ?? (signal?.aborted ? ABORTED : null)
    // Deferred, so that the caller gets the handle before it ends.
    if (finished) void Promise.resolve().then(() => handle.end(finished))
    else signal?.addEventListener('abort', abort)
    return handle
  }

  /** Ends all handles, including those that are opened later. */
  endAll(end: End): void {
    if (this.#end) return
    this.#end = end
    for (const handle of [...this.#all]) handle.end(end)
  }
}

export interface ClientInternals {
  readonly handles: OpenHandles
  readonly runtime: ClientRuntime
  readonly endpoint: Endpoint
  /** Returns the connection, which connects on first use. */
  readonly connected: () => Connection
}

export const INTERNALS = Symbol.for('weir.client.inside')

export function internalsOf(client: object): ClientInternals {
  const internals = (client as { readonly [INTERNALS]?: ClientInternals })[INTERNALS]
  if (!internals) throw new TypeError('pass a client from createClient')
  return internals
}

/** Rejects a body that is already subscribed, because the frames of the two could not be distinguished. */
export function rejectDuplicate(connection: Connection, body: SubscriptionBody): void {
  if (!connection.has(body)) return
  throw new WeirError(
    'already_subscribed',
    `${JSON.stringify(body)} is already subscribed. Share it, or close it first`,
  )
}

/**
 * Calls a user's listener. Invariant: an exception in it is reported to the user and does not affect the client's
 * state.
 */
export function safeCall<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event)
  } catch (error) {
    // This rejection is left unhandled, so that the platform reports it.
    void Promise.reject(error)
  }
}
