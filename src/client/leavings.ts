// Bodies that were given up on this socket while no answer had come: one that is asked for anew has the same text, and
// whatever answers before theirs was meant for the one before. Law: a gateway that refused to end one for its rate, which
// its refusal does not say, is asked again.

import type { After } from '../core/deadline.ts'
import { LIMITS } from './connection-options.ts'
import type { Entry } from './entries.ts'
import type { SubscriptionBody } from './subscription.ts'

interface Leaving {
  readonly body: SubscriptionBody
  times: number
}

export class Leavings {
  readonly #after: After
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #ask: (entry: Entry) => void
  readonly #send: (message: { readonly method: 'unsubscribe'; readonly subscription: SubscriptionBody }) => void
  readonly #unanswered = new Map<string, Leaving>()
  #stopAgain: (() => void) | null = null

  /** `ask` subscribes to one of `entries` that was asked for anew since. */
  constructor(
    after: After,
    entries: ReadonlyMap<string, Entry>,
    ask: (entry: Entry) => void,
    send: (message: { readonly method: 'unsubscribe'; readonly subscription: SubscriptionBody }) => void,
  ) {
    this.#after = after
    this.#entries = entries
    this.#ask = ask
    this.#send = send
  }

  leave(key: string, body: SubscriptionBody): void {
    this.#unanswered.set(key, { body, times: (this.#unanswered.get(key)?.times ?? 0) + 1 })
    this.#send({ method: 'unsubscribe', subscription: body })
  }

  /** `key` is empty for a long body, which is not said back. */
  answered(key: string): void {
    const said = key || [...this.#unanswered.keys()].find(({ length }) => length > LIMITS.echoChars) || ''
    const leaving = this.#unanswered.get(said)
    if (leaving && --leaving.times === 0) this.#unanswered.delete(said)
  }

  /** An answer that speaks of this body is of one before. */
  has(key: string): boolean {
    return this.#unanswered.has(key)
  }

  /** The gateway has not ended it: what it says from now on is of the one that was asked for anew. */
  held(key: string): void {
    this.#unanswered.delete(key)
  }

  /** A frame was refused for its rate, and no refusal names these: it may have been one of them. */
  refused(): void {
    if (this.#unanswered.size === 0) return
    this.#stopAgain ??= this.#after(LIMITS.againMs, () => {
      this.#stopAgain = null
      for (const [key, { body }] of this.#unanswered) this.#again(key, body)
    })
  }

  #again(key: string, body: SubscriptionBody): void {
    const entry = this.#entries.get(key)
    if (!entry) return this.#send({ method: 'unsubscribe', subscription: body })
    this.held(key)
    // Its answer may be among those that were taken for those of the one before.
    if (entry.asked && !entry.acked) this.#ask(entry)
  }

  /** The socket has ended. */
  stop(): void {
    this.#stopAgain?.()
    this.#stopAgain = null
    this.#unanswered.clear()
  }
}
