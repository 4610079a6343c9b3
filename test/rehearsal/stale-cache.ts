// What one location of KV remembers: values and misses, each for up to its lifetime, whatever was written elsewhere.

const MAX_KEYS = 10_000

interface Entry {
  readonly value: unknown
  readonly untilMs: number
}

export class StaleCache {
  readonly #realMs: () => number
  /** By key and by how it was read. */
  readonly #keys = new Map<string, Map<string, Entry>>()

  constructor(realMs: () => number) {
    this.#realMs = realMs
  }

  /** Undefined: not cached. A cached miss is null. */
  get(key: string, how: string): Entry | undefined {
    const entry = this.#keys.get(key)?.get(how)
    return entry !== undefined && this.#realMs() < entry.untilMs ? entry : undefined
  }

  set(key: string, how: string, value: unknown, lifetimeMs: number): void {
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear()
    const entries = this.#keys.get(key) ?? new Map<string, Entry>()
    this.#keys.set(key, entries.set(how, { value, untilMs: this.#realMs() + lifetimeMs }))
  }

  /** Only a write in the same location is seen at once. */
  forget(key: string): void {
    this.#keys.delete(key)
  }
}
