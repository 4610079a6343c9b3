// Plans that operations share, with what they made of the last frames. Laws: operations that take the same of the same
// body share one plan; a text is projected once for all who are sent it at once, however many, and as a rule for those who
// are sent it one after another, as Snapshots are; what plans hold of memory is bounded, and where they take much of the
// processor no others come.

import { getOrCreate } from '../../core/get-or-create.ts'
import type { Clock } from '../sockets/connection.ts'
import type { Plan } from './plan.ts'
import { project } from './projection.ts'

/** Fields of all plans, each some 200 bytes. The largest selection of most channels has fewer than fifty. */
const MAX_FIELDS = 100_000
/** Of frames, as often as each is projected: a quarter of the processor. Of 180 KB/s, as wildcards have them, some fifty. */
const MAX_CHARS_PER_SECOND = 8 * 1024 * 1024
/** Of frames, and of what was made of them, beyond the run that sends them. */
const CACHE_CHARS = 4 * 1024 * 1024

/** What a plan made of frames, by their texts. */
type ResultCache = Map<string, string>

export class SharedPlan {
  readonly #head: string
  readonly #plan: Plan
  readonly #results: ResultCache = new Map()
  readonly #onProjected: (made: ResultCache, chars: number) => void
  uses = 0

  constructor(alias: string, plan: Plan, spent: (made: ResultCache, chars: number) => void) {
    this.#onProjected = spent
    this.#head = `{"data":{"${alias}":`
    this.#plan = plan
  }

  /** JSON of the result for a frame. */
  payload(frame: string): string {
    const known = this.#results.get(frame)
    if (known !== undefined) return known
    this.#onProjected(this.#results, frame.length)
    // Joined it lies in one piece: of a text put together of thousands each send would walk over all of them.
    const made = [this.#head, project(this.#plan, frame), '}}'].join('')
    this.#results.set(frame, made)
    return made
  }
}

export class SharedPlans {
  readonly #byKey = new Map<string, SharedPlan>()
  #fields = 0
  #chars = 0
  readonly #clock: Clock
  #lastSample: { readonly atMs: number; readonly chars: number }
  /** Characters a second before the last look. */
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

  /** Another plan is better off elsewhere. */
  get isFull(): boolean {
    return Math.max(this.#rate, this.#rateSince()) > MAX_CHARS_PER_SECOND || this.#fields >= MAX_FIELDS
  }

  /** To be called every few seconds. */
  sample(): void {
    this.#rate = this.#rateSince()
    this.#lastSample = { atMs: this.#clock.nowMs, chars: this.#chars }
  }

  /** Since the last look: a thousand plans may come between two. */
  #rateSince(): number {
    const seconds = (this.#clock.nowMs - this.#lastSample.atMs) / 1000
    return (this.#chars - this.#lastSample.chars) / Math.max(seconds, 1)
  }

  /** True where there is one, or room for it. */
  hasRoom(alias: string, plan: Plan, body: string): boolean {
    return !this.isFull || this.#byKey.has(keyOf(alias, plan, body))
  }

  /** `body`: JSON that identifies what frames are of. To be given back. */
  acquire(alias: string, plan: Plan, body: string): SharedPlan {
    const shared = getOrCreate(this.#byKey, keyOf(alias, plan, body), () => {
      this.#fields += plan.size
      return new SharedPlan(alias, plan, (made, chars) => this.#onProjected(made, chars))
    })
    shared.uses++
    return shared
  }

  /** A plan makes something of so long a frame. */
  #onProjected(made: ResultCache, chars: number): void {
    this.#chars += chars
    this.#caches.add(made)
    const before = this.#cachedChars
    // What is made is seldom longer than the frame.
    this.#cachedChars += 2 * chars
    if (before <= CACHE_CHARS && this.#cachedChars > CACHE_CHARS) void Promise.resolve().then(() => this.#clearCaches())
  }

  #clearCaches(): void {
    for (const made of this.#caches) made.clear()
    this.#caches.clear()
    this.#cachedChars = 0
  }

  release(alias: string, plan: Plan, body: string): void {
    const key = keyOf(alias, plan, body)
    const known = this.#byKey.get(key)
    if (!known || --known.uses > 0) return
    this.#byKey.delete(key)
    this.#fields -= plan.size
  }
}

function keyOf(alias: string, { key }: Plan, body: string): string {
  return `${alias} ${key} ${body}`
}
