// A map whose total weight is bounded. It evicts the entry that was set longest ago. Invariants
// (test/core/bounded-map.test.ts): the bound holds after every call; an entry heavier than the bound is not stored;
// setting an entry makes it the newest, but reading it does not.

export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>()
  /**
   * Eviction continues at this iterator, because an iterator that starts at the front would pass all deleted slots
   * again. A paused iterator keeps old tables of the map in memory, so any other deletion discards it.
   */
  #oldest: Iterator<K> | null = null
  readonly #maxWeight: number
  readonly #weigh: (value: V, key: K) => number
  #weight = 0

  /**
   * Bounds the sum of all weights. By default each entry has weight 1. `weigh` must always return the same weight for
   * an entry.
   */
  constructor(maxWeight: number, weigh: (value: V, key: K) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weigh = weigh
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  values(): Iterable<V> {
    return this.#entries.values()
  }

  entries(): Iterable<[K, V]> {
    return this.#entries.entries()
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  set(key: K, value: V): void {
    this.delete(key)
    const weight = this.#weigh(value, key)
    if (weight > this.#maxWeight) return
    this.#entries.set(key, value)
    this.#weight += weight
    while (this.#weight > this.#maxWeight) this.dropOldest()
  }

  delete(key: K): void {
    if (this.#remove(key)) this.#oldest = null
  }

  dropOldest(): void {
    if (this.size === 0) return
    this.#oldest ??= this.#entries.keys()
    this.#remove(this.#oldest.next().value as K)
  }

  #remove(key: K): boolean {
    const value = this.#entries.get(key)
    const isThere = this.#entries.delete(key)
    if (isThere) this.#weight -= this.#weigh(value as V, key)
    return isThere
  }
}
