// What is open at a client: each thing ends once, by its user, by the gateway or with the client, and is then forgotten.

import type { End } from './api.ts'
import { ABORTED, CLOSED } from './refusal.ts'

/** As much of an AbortSignal as is needed. */
export interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface Open {
  readonly isOver: () => boolean
  /** Ends it for this reason. */
  readonly end: (end: End) => void
  readonly close: () => void
}

export class Opened {
  readonly #all = new Set<Open>()
  #end: End | null = null

  get size(): number {
    return this.#all.size
  }

  /** `free` is called once; where all has ended already, soon. */
  add(free: (end: End) => void, signal?: Signal | undefined): Open {
    let isOver = false
    const abort = () => open.end(ABORTED)
    const open: Open = {
      isOver: () => isOver,
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
