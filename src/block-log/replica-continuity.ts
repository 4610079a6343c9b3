// Puts each line of signed actions into one block of the log, whichever feeder's copies have it. No block waits for a
// line, so a line may come with a later block. Invariants: a line is taken once, and lines are in order; a line that is
// missing between two others, or that does not come, is named in an entry.

import type { Block } from '../protocol/feed/block.ts'
import { lineHeight, type ReplicaEntry } from '../protocol/feed/replica-entries.ts'

/** A block says that lines are missing once the newest line is this many heights behind it: about nine seconds. */
const MAX_BEHIND = 128

export class ReplicaContinuity {
  /** Height of the last line; null: the next line is the first. */
  #last: number | null = null
  /** The last blocks without this part. Readers know that the lines of these heights are missing. */
  #absent = { from: 0, to: -1 }

  /** Records an accepted copy. Returns the entries to store; undefined if the signed actions of the block are unknown. */
  onTaken({ height, replica }: Pick<Block, 'height' | 'replica'>): unknown[] | undefined {
    const entries = replica && this.#unseen(replica)
    if (entries === undefined || this.#last === null) {
      this.#recordAbsent(height)
      return undefined
    }
    if (height - this.#last < MAX_BEHIND) return entries
    return [...entries, lost(`replica_cmds has no lines of heights above ${this.#last} yet`)]
  }

  /** Clears everything. Called when a different chain starts. */
  clear(): void {
    this.#last = null
    this.#absent = { from: 0, to: -1 }
  }

  #recordAbsent(height: number): void {
    const { from, to } = this.#absent
    this.#absent = { from: to === height - 1 ? from : height, to: height }
    if (height - this.#absent.from >= MAX_BEHIND) this.#last = null
  }

  /** The entries without the lines that were already taken. */
  #unseen(replica: readonly unknown[]): unknown[] {
    const entries: unknown[] = []
    let isSeen = false
    for (const entry of replica) {
      const height = lineHeight(entry)
      if (height !== null) {
        isSeen = this.#last !== null && height <= this.#last
        if (!isSeen) entries.push(...this.#missingBefore(height))
        if (!isSeen) this.#last = height
      }
      if (!isSeen) entries.push(entry)
    }
    return entries
  }

  /** Names the lines between the last one and this one, except those of blocks without this part. */
  *#missingBefore(height: number): Generator<ReplicaEntry> {
    if (this.#last === null) return
    const { from, to } = this.#absent
    const next = this.#last + 1
    const ranges = [
      [next, Math.min(height - 1, from > next ? from - 1 : next - 1)],
      [Math.max(next, to + 1), height - 1],
    ] as const
    for (const [first, last] of to < next ? [[next, height - 1] as const] : ranges)
      if (first <= last) yield lost(`replica_cmds has no lines of heights ${first} to ${last}`)
  }
}

const lost = (reason: string): ReplicaEntry => ({ lost: reason })
