// The raw diffs of the last blocks, kept so that a snapshot taken a little earlier can be brought to our height, and the
// digests that they changed, so that it can be told what our books were at its height.

import type { RawDiff } from './raw-diff.ts'

/** About a minute of the whole real exchange. */
const RECENT_DIFFS = 200_000

interface RecentBlock {
  readonly diffs: readonly RawDiff[]
  /** Digests of the coins that it touched, as they were before it. */
  readonly before: ReadonlyMap<string, number>
}

export class RecentDiffs {
  readonly #blocks = new Map<number, RecentBlock>()
  readonly #limit: number
  #count = 0
  #last: number | null = null

  /** `limit`: diffs kept; the last block is kept whatever its length. */
  constructor(limit: number = RECENT_DIFFS) {
    this.#limit = limit
  }

  /** Adds the block after the last one; another height begins anew, since a run with a hole is of no use. */
  push(height: number, diffs: readonly RawDiff[], before: ReadonlyMap<string, number>): void {
    if (this.#last === null || height !== this.#last + 1) this.clear()
    this.#last = height
    this.#blocks.set(height, { diffs, before })
    this.#count += diffs.length
    for (const [oldest, old] of this.#blocks) {
      if (this.#count <= this.#limit || oldest === height) break
      this.#blocks.delete(oldest)
      this.#count -= old.diffs.length
    }
  }

  clear(): void {
    this.#blocks.clear()
    this.#count = 0
    this.#last = null
  }

  /** Whether every block after `height` is held. */
  reaches(height: number): boolean {
    return this.#last !== null && (height === this.#last || (height < this.#last && this.#blocks.has(height + 1)))
  }

  /** The diffs of a block that is held. */
  diffsOf(height: number): readonly RawDiff[] {
    return this.#blocks.get(height)?.diffs ?? []
  }

  /** Digests at `height`, which is reached, of the coins that changed since. */
  digestsAt(height: number): Map<string, number> {
    const digests = new Map<string, number>()
    for (let h = this.#last!; h > height; h--)
      for (const [coin, digest] of this.#blocks.get(h)!.before) digests.set(coin, digest)
    return digests
  }
}
