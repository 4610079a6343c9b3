// What the parts of the client package share of a client: what is open at it, of which each thing ends once, by its user, by the
// gateway or with the client, and is then forgotten. Parts that are loaded by themselves find it by a registered symbol, so
// that it is the same in every copy of the package.

import type { End } from './api.ts'
import type { Connection } from './connection.ts'
import type { ClientRuntime, Endpoint } from './runtime.ts'
import type { SubscriptionBody } from './subscription.ts'
import { ABORTED, CLOSED, WeirError } from './weir-error.ts'

/** As much of an AbortSignal as is needed. */
export interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface OpenHandle {
  readonly isEnded: () => boolean
  /** Ends it for this reason. */
  readonly end: (end: End) => void
  readonly close: () => void
}

export class OpenHandles {
  readonly #all = new Set<OpenHandle>()
  #end: End | null = null

  get size(): number {
    return this.#all.size
  }

  /** `free` is called once; where all has ended already, soon. */
  add(free: (end: End) => void, signal?: Signal | undefined): OpenHandle {
    let isOver = false
    const abort = () => open.end(ABORTED)
    const open: OpenHandle = {
      isEnded: () => isOver,
      end: (end) => {
        if (isOver) return
        isOver = true
        this.#all.delete(open)
        signal?.removeEventListener('abort', abort)
        free(end)
      },
      close: () => open.end(CLOSED),
    }
    this.#all.add(open)
    const over = this.#end ?? (signal?.aborted ? ABORTED : null)
    // Not before its maker has it.
    if (over) void Promise.resolve().then(() => open.end(over))
    else signal?.addEventListener('abort', abort)
    return open
  }

  /** Ends all, and whatever is opened later. */
  endAll(end: End): void {
    if (this.#end) return
    this.#end = end
    for (const open of [...this.#all]) open.end(end)
  }
}

export interface ClientInternals {
  readonly handles: OpenHandles
  readonly runtime: ClientRuntime
  readonly endpoint: Endpoint
  /** Connects where nothing did yet. */
  readonly connected: () => Connection
}

export const INTERNALS = Symbol.for('weir-client.inside')

export function internalsOf(client: object): ClientInternals {
  const inside = (client as { readonly [INTERNALS]?: ClientInternals })[INTERNALS]
  if (!inside) throw new TypeError('send the client that createClient has made')
  return inside
}

/** Refuses a body that is there: whose frames are whose nobody could tell. */
export function rejectDuplicate(connection: Connection, body: SubscriptionBody): void {
  if (!connection.has(body)) return
  throw new WeirError('already_subscribed', `${JSON.stringify(body)} is subscribed to: share it, or close it first`)
}

/** Calls what users of the package give it. Invariant: what theirs throws reaches them, and leaves nothing of ours half done. */
export function safeCall<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event)
  } catch (error) {
    // Unhandled on purpose: the platform reports it.
    void Promise.reject(error)
  }
}
