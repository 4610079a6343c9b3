// Which coins are checkpointed next. Every coin with changes is stored once per ROTATION_MS at the latest, so a
// restarted hub replays at most that much of the log, a tenth of what the log holds for it. A coin without changes
// is not stored again: how far its checkpoint is still true is told by those that are.

import type { Coin } from '../core/coin.ts'

/** Checkpoints are written in one transaction per this interval: a write holds back the frames behind it. */
export const CHECKPOINT_MS = 1000
export const ROTATION_MS = 30_000

export class Rotation {
  /** Coins changed since their last checkpoint, longest waiting first, with the height of the first such change. */
  readonly #changed = new Map<string, number>()
  #lastMs = 0
  #lastStored: string | null = null

  /** `height`: that of the change. */
  markChanged(coin: Coin, height: number): void {
    if (!this.#changed.has(coin)) this.#changed.set(coin, height)
  }

  /**
   * The coins to store now with the height of their first change, none before CHECKPOINT_MS has passed. The caller
   * stores them or reports them changed. Where nothing changes, one is stored again per ROTATION_MS.
   */
  due(nowMs: number, height: number): [coin: Coin, height: number][] {
    const restMs = this.#changed.size > 0 ? CHECKPOINT_MS : ROTATION_MS
    if (nowMs - this.#lastMs < restMs) return []
    this.#lastMs = nowMs
    if (this.#changed.size === 0) return this.#lastStored === null ? [] : [[this.#lastStored, height]]
    const count = Math.ceil((this.#changed.size * CHECKPOINT_MS) / ROTATION_MS)
    const due = [...this.#changed].slice(0, count)
    for (const [coin] of due) this.#changed.delete(coin)
    this.#lastStored = due[0]?.[0] ?? null
    return due
  }

  /** Height up to which the stored checkpoints have every change, the shard standing at `height`. */
  cleanUpTo(height: number): number {
    let clean = height
    for (const changed of this.#changed.values()) clean = Math.min(clean, changed - 1)
    return clean
  }

  /** Nothing is stored any more: another epoch begins. */
  clear(): void {
    this.#changed.clear()
    this.#lastStored = null
  }
}
