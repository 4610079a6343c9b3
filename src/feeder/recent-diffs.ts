// The raw diffs of the last blocks, kept so that a snapshot taken a little earlier can be brought to our height.

import type { RawDiff } from './raw-diff.ts'

/** About a minute of the whole real exchange. */
const RECENT_DIFFS = 200_000

export class RecentDiffs {
  readonly #blocks = new Map<number, readonly RawDiff[]>()
  readonly #limit: number
  #count = 0
  #last: number | null = null

  /** `limit`: diffs kept; the last block is kept whatever its length. */
  constructor(limit: number = RECENT_DIFFS) {
    this.#limit = limit
  }

  /** Adds the block after the last one; another height begins anew, since a run with a hole is of no use. */
  push(height: number, diffs: readonly RawDiff[]): void {
    if (this.#last === null || height !== this.#last + 1) this.clear()
    this.#last = height
    this.#blocks.set(height, diffs)
    this.#count += diffs.length
    for (const [oldest, old] of this.#blocks) {
      if (this.#count <= this.#limit || oldest === height) break
      this.#blocks.delete(oldest)
      this.#count -= old.length
    }
  }

  clear(): void {
    this.#blocks.clear()
    this.#count = 0
    this.#last = null
  }

  /** The blocks after `height`, oldest first; null where one of them is no longer held. */
  after(height: number): (readonly RawDiff[])[] | null {
    if (this.#last === null || height > this.#last) return null
    const blocks: (readonly RawDiff[])[] = []
    for (let h = height + 1; h <= this.#last; h++) {
      const diffs = this.#blocks.get(h)
      if (!diffs) return null
      blocks.push(diffs)
    }
    return blocks
  }
}
