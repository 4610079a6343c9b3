// Key cache of an isolate: existing keys for 30 s, missing ones for 5 s, at most `capacity` entries in total.
// Invariants:
// expired entries are never returned; the oldest entry is evicted first; a flood of missing keys evicts no existing
// key.

import { BoundedMap } from '../core/bounded-map.ts'
import type { KeyRecord } from './key-record.ts'

const PRESENT_MS = 30_000
const ABSENT_MS = 5_000

export class KeyCache {
  readonly #present: BoundedMap<string, { readonly record: KeyRecord; readonly untilMs: number }>
  readonly #absent: BoundedMap<string, number>
  readonly #capacity: number

  constructor(capacity = 4_000) {
    this.#present = new BoundedMap(capacity)
    this.#absent = new BoundedMap(capacity)
    this.#capacity = capacity
  }

  /** Null: known to be missing. Undefined: not cached. */
  get(id: string, nowMs: number): KeyRecord | null | undefined {
    const entry = this.#present.get(id)
    if (entry !== undefined) return entry.untilMs > nowMs ? entry.record : undefined
    return (this.#absent.get(id) ?? 0) > nowMs ? null : undefined
  }

  /** True if the key existed when last read, even if that entry has expired. */
  has(id: string): boolean {
    return this.#present.has(id)
  }

  set(id: string, record: KeyRecord | null, nowMs: number): void {
    this.#present.delete(id)
    this.#absent.delete(id)
    if (this.size >= this.#capacity) (this.#absent.size > 0 ? this.#absent : this.#present).dropOldest()
    if (record === null) this.#absent.set(id, nowMs + ABSENT_MS)
    else this.#present.set(id, { record, untilMs: nowMs + PRESENT_MS })
  }

  get size(): number {
    return this.#present.size + this.#absent.size
  }
}
