// The last so many of something. A ring: adding never moves what is there.

export class Tail<T> {
  readonly #bound: number
  readonly #items: T[] = []
  /** Place of the oldest once the ring is full. */
  #start = 0

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Adds the newest; the oldest goes when there are `bound` already. */
  push(item: T): void {
    if (this.#items.length < this.#bound) this.#items.push(item)
    else {
      this.#items[this.#start] = item
      this.#start = (this.#start + 1) % this.#bound
    }
  }

  get length(): number {
    return this.#items.length
  }

  last(): T | undefined {
    return this.#items.at(this.#start - 1)
  }

  /** Oldest first; a copy. */
  toArray(): T[] {
    return [...this.#items.slice(this.#start), ...this.#items.slice(0, this.#start)]
  }
}
