// Virtual time: due tasks run in order, and one seed decides all randomness.

import { seededRandom } from '../kit/random.ts'

const BEGIN_MS = Date.parse('2026-05-05T17:00:00Z')

interface Task {
  readonly atMs: number
  readonly order: number
  run: (() => void) | null
}

export class Schedule {
  nowMs = BEGIN_MS
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** A binary heap: what is due first stands first. */
  readonly #heap: Task[] = []
  #order = 0

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  below(n: number): number {
    return Math.floor(this.random() * n)
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)]
  }

  chance(probability: number): boolean {
    return this.random() < probability
  }

  /** The answer cancels. */
  after(ms: number, run: () => void): () => void {
    return this.at(this.nowMs + Math.max(0, ms), run)
  }

  /** Of what is due at one time, what was asked for first runs first. The answer cancels. */
  at(atMs: number, run: () => void): () => void {
    const task: Task = { atMs, order: this.#order++, run }
    this.#rise(task)
    return () => {
      task.run = null
    }
  }

  /** Moves the clock to what is due next and answers it; null where nothing is due by `untilMs`, and the clock is there. */
  next(untilMs: number): (() => void) | null {
    for (let first = this.#heap[0]; first && first.atMs <= untilMs; first = this.#heap[0]) {
      this.#sink()
      if (!first.run) continue
      this.nowMs = Math.max(this.nowMs, first.atMs)
      return first.run
    }
    this.nowMs = untilMs
    return null
  }

  #rise(task: Task): void {
    const heap = this.#heap
    let at = heap.push(task) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (isBefore(heap[above]!, task)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = task
  }

  #sink(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (isBefore(last, heap[below]!)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
  }
}

const isBefore = (a: Task, b: Task): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
