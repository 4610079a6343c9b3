// Projection plans shared by operations, with cached results. Invariants: operations with the same selection and body
// share one plan; a frame is projected once for all its receivers; cached memory is bounded, and no plans are added
// above the processor limit.

import { getOrCreate } from '../../core/get-or-create.ts'
import type { Clock } from '../sockets/connection.ts'
import type { Plan } from './plan.ts'
import { project } from './projection.ts'

/**
 * Maximum number of fields in all plans together, at about 200 bytes each. The largest selection of most channels has
 * fewer than 50.
 */
const MAX_FIELDS = 100_000
/**
 * Maximum number of frame characters projected per second. This load uses about a quarter of the processor. A wildcard
 * produces about 180 KB/s, so the limit allows about 50 wildcards.
 */
const MAX_CHARS_PER_SECOND = 8 * 1024 * 1024
/** Maximum size of the frames and results that stay cached after the turn that sends them. */
const CACHE_CHARS = 4 * 1024 * 1024

/** Results of a plan, keyed by frame. */
type ResultCache = Map<string, string>

export class SharedPlan {
  readonly #head: string
  readonly #plan: Plan
  readonly #results: ResultCache = new Map()
  readonly #onProjected: (results: ResultCache, chars: number) => void
  uses = 0

  constructor(alias: string, plan: Plan, onProjected: (results: ResultCache, chars: number) => void) {
    this.#onProjected = onProjected
    this.#head = `{"data":{"${alias}":`
    this.#plan = plan
  }

  /** JSON of the result for a frame. */
  payload(frame: string): string {
    const cached = this.#results.get(frame)
    if (cached !== undefined) return cached
    this.#onProjected(this.#results, frame.length)
    // `join` makes a flat string. Otherwise each send would walk a concatenation of thousands of pieces.
    const results = [this.#head, project(this.#plan, frame), '}}'].join('')
    this.#results.set(frame, results)
    return results
  }
}

export class SharedPlans {
  readonly #byKey = new Map<string, SharedPlan>()
  #fields = 0
  #chars = 0
  readonly #clock: Clock
  #lastSample: { readonly atMs: number; readonly chars: number }
  /** Characters per second before the last sample. */
  #rate = 0
  readonly #caches = new Set<ResultCache>()
  #cachedChars = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastSample = { atMs: clock.nowMs, chars: 0 }
  }

  get size(): number {
    return this.#byKey.size
  }

  /** True if new plans should go to another relay. */
  get isFull(): boolean {
    return Math.max(this.#rate, this.#rateSince()) > MAX_CHARS_PER_SECOND || this.#fields >= MAX_FIELDS
  }

  /** Call it every few seconds. */
  sample(): void {
    this.#rate = this.#rateSince()
    this.#lastSample = { atMs: this.#clock.nowMs, chars: this.#chars }
  }

  /** Rate since the last sample, because a thousand plans may arrive between two samples. */
  #rateSince(): number {
    const seconds = (this.#clock.nowMs - this.#lastSample.atMs) / 1000
    return (this.#chars - this.#lastSample.chars) / Math.max(seconds, 1)
  }

  /** True if the plan exists or there is room for it. */
  hasRoom(alias: string, plan: Plan, body: string): boolean {
    return !this.isFull || this.#byKey.has(keyOf(alias, plan, body))
  }

  /** `body` is the JSON that identifies the frames. Release the plan after use. */
  acquire(alias: string, plan: Plan, body: string): SharedPlan {
    const shared = getOrCreate(this.#byKey, keyOf(alias, plan, body), () => {
      this.#fields += plan.size
      return new SharedPlan(alias, plan, (results, chars) => this.#onProjected(results, chars))
    })
    shared.uses++
    return shared
  }

  /** Counts a projection of a frame. */
  #onProjected(results: ResultCache, chars: number): void {
    this.#chars += chars
    this.#caches.add(results)
    const before = this.#cachedChars
    // A result is rarely longer than its frame.
    this.#cachedChars += 2 * chars
    if (before <= CACHE_CHARS && this.#cachedChars > CACHE_CHARS) void Promise.resolve().then(() => this.#clearCaches())
  }

  #clearCaches(): void {
    for (const results of this.#caches) results.clear()
    this.#caches.clear()
    this.#cachedChars = 0
  }

  release(alias: string, plan: Plan, body: string): void {
    const key = keyOf(alias, plan, body)
    const cached = this.#byKey.get(key)
    if (!cached || --cached.uses > 0) return
    this.#byKey.delete(key)
    this.#fields -= plan.size
  }
}

function keyOf(alias: string, { key }: Plan, body: string): string {
  return `${alias} ${key} ${body}`
}
