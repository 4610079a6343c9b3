// Credits that are held for batches on their way, so that pipelines of one account never send for the same ones. In the memory
// of the account's meter: a restart forgets holds of two minutes at most. Invariants: a hold is granted whole or not at all; a
// pipeline has one at most.

import type { MicroCredits } from '../core/amount.ts'

/** Longer than a batch is on its way. */
const HOLD_MS = 150_000

interface Hold {
  readonly keyHash: string
  readonly amount: MicroCredits
  readonly untilMs: number
}

export class PipelineHolds {
  readonly #holds = new Map<string, Hold>()

  /** What other pipelines hold of the account, and of what this key may spend. */
  ofOthers(
    pipeline: string,
    keyHash: string,
    nowMs: number,
  ): { readonly all: MicroCredits; readonly ofKey: MicroCredits } {
    for (const [id, { untilMs }] of this.#holds) if (untilMs <= nowMs) this.#holds.delete(id)
    const others = [...this.#holds].filter(([id]) => id !== pipeline).map(([, hold]) => hold)
    const ofKey = others.filter((hold) => hold.keyHash === keyHash)
    return { all: sumOf(others), ofKey: sumOf(ofKey) }
  }

  put(pipeline: string, keyHash: string, amount: MicroCredits, nowMs: number): void {
    this.#holds.set(pipeline, { keyHash, amount, untilMs: nowMs + HOLD_MS })
  }

  drop(pipeline: string): void {
    this.#holds.delete(pipeline)
  }
}

const sumOf = (holds: readonly Hold[]) => holds.reduce((sum, { amount }) => sum + amount, 0)
