// Bodies that were given up on this socket while no answer had come: one that is asked for anew has the same text, and
// whatever answers before theirs was meant for the one before.

export class Leavings {
  readonly #unanswered = new Map<string, number>()

  /** `unsubscribe` of this body was sent. */
  sent(key: string): void {
    this.#unanswered.set(key, (this.#unanswered.get(key) ?? 0) + 1)
  }

  answered(key: string): void {
    const rest = (this.#unanswered.get(key) ?? 0) - 1
    if (rest > 0) this.#unanswered.set(key, rest)
    else this.#unanswered.delete(key)
  }

  /** An answer that speaks of this body is of one before. */
  has(key: string): boolean {
    return this.#unanswered.has(key)
  }
}
