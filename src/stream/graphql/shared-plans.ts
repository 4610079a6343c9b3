// Plans that operations share, with what they made of the last frames. Laws: operations that take the same of the same
// body share one plan; a text is projected once for all who are sent it at once, however many; nothing of it is kept
// beyond that; what plans hold of memory is bounded, and where they take much of the processor no others come.

import type { Plan } from './plan.ts'
import { project } from './projection.ts'

/** Fields of all plans, each some 200 bytes. The largest selection of most channels has fewer than fifty. */
const MAX_FIELDS = 100_000
/** Of frames, as often as each is projected: a quarter of the processor. Of 180 KB/s, as wildcards have them, some fifty. */
const MAX_CHARS_PER_SECOND = 8 * 1024 * 1024

export class SharedPlan {
  readonly #head: string
  readonly #plan: Plan
  /** By the texts of frames, until nothing more runs that sent them. */
  readonly #made = new Map<string, string>()
  readonly #spent: (chars: number) => void
  uses = 0

  constructor(alias: string, plan: Plan, spent: (chars: number) => void) {
    this.#spent = spent
    this.#head = `{"data":{"${alias}":`
    this.#plan = plan
  }

  /** JSON of the result for a frame. */
  payload(frame: string): string {
    const known = this.#made.get(frame)
    if (known !== undefined) return known
    this.#spent(frame.length)
    const made = `${this.#head}${project(this.#plan, frame)}}}`
    if (this.#made.size === 0) void Promise.resolve().then(() => this.#made.clear())
    this.#made.set(frame, made)
    return made
  }
}

export class SharedPlans {
  readonly #byKey = new Map<string, SharedPlan>()
  #fields = 0
  #chars = 0
  #looked: { readonly atMs: number; readonly chars: number }
  #isBusy = false

  constructor(nowMs: number) {
    this.#looked = { atMs: nowMs, chars: 0 }
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Another plan is better off elsewhere. */
  get isFull(): boolean {
    return this.#isBusy || this.#fields >= MAX_FIELDS
  }

  /** To be called every few seconds. */
  look(nowMs: number): void {
    const seconds = (nowMs - this.#looked.atMs) / 1000
    if (seconds <= 1) return
    this.#isBusy = (this.#chars - this.#looked.chars) / seconds > MAX_CHARS_PER_SECOND
    this.#looked = { atMs: nowMs, chars: this.#chars }
  }

  /** True where there is one, or room for it. */
  hasRoom(alias: string, plan: Plan, body: string): boolean {
    return !this.isFull || this.#byKey.has(keyOf(alias, plan, body))
  }

  /** `body`: JSON that identifies what frames are of. To be given back. */
  take(alias: string, plan: Plan, body: string): SharedPlan {
    const key = keyOf(alias, plan, body)
    const known = this.#byKey.get(key) ?? this.#made(alias, plan)
    this.#byKey.set(key, known)
    known.uses++
    return known
  }

  #made(alias: string, plan: Plan): SharedPlan {
    this.#fields += plan.size
    return new SharedPlan(alias, plan, (chars) => {
      this.#chars += chars
    })
  }

  giveBack(alias: string, plan: Plan, body: string): void {
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
