// Decides which coins to checkpoint next. Every changed coin is stored within ROTATION_MS, so a restarted hub replays
// at most that much of the log, a tenth of what the log retains. An unchanged coin is not stored again: newer
// checkpoints say how far it is still valid.

import type { Coin } from '../core/coin.ts'

/** Interval of checkpoint writes. */
export const CHECKPOINT_MS = 1000
export const ROTATION_MS = 30_000

export class Rotation {
  /** Coins changed since their last checkpoint, longest waiting first, with the height of the first change. */
  readonly #changed = new Map<string, number>()
  #lastMs = 0
  #lastStored: string | null = null

  /** Records a change of a coin at `height`. */
  markChanged(coin: Coin, height: number): void {
    if (!this.#changed.has(coin)) this.#changed.set(coin, height)
  }

  /**
   * Coins to store now, with the height of their first change; none until CHECKPOINT_MS has passed. The caller stores
   * them or marks them changed again. If nothing changes, one coin is stored again every ROTATION_MS.
   */
  due(nowMs: number, height: number): [coin: Coin, height: number][] {
    const intervalMs = this.#changed.size > 0 ? CHECKPOINT_MS : ROTATION_MS
    if (nowMs - this.#lastMs < intervalMs) return []
    this.#lastMs = nowMs
    if (this.#changed.size === 0) return this.#lastStored === null ? [] : [[this.#lastStored, height]]
    const count = Math.ceil((this.#changed.size * CHECKPOINT_MS) / ROTATION_MS)
    const due = [...this.#changed].slice(0, count)
    for (const [coin] of due) this.#changed.delete(coin)
    this.#lastStored = due[0]?.[0] ?? null
    return due
  }

  /** Height up to which the stored checkpoints have every change. `height`: the shard's height. */
  cleanUpTo(height: number): number {
    let clean = height
    for (const changed of this.#changed.values()) clean = Math.min(clean, changed - 1)
    return clean
  }

  /** A new epoch starts, so no coin counts as stored any more. */
  clear(): void {
    this.#changed.clear()
    this.#lastStored = null
  }
}
