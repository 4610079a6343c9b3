// Blocks that were created but not yet written. They imitate a real node, which writes a block a few hundred
// milliseconds after its time, and writes nothing while it is stopped. Invariant: blocks are released in order, and
// each only once, except those that a restarted node writes again.

import type { DevnetBlock } from '../exchange/node-block.ts'
import { Prng, seedState } from '../exchange/prng.ts'
import { type Quantiles, quantile } from '../exchange/scale.ts'

/** Maximum number of blocks that can be written again. */
export const MAX_REWRITTEN = 20

const ns = (ms: number) => BigInt(Math.round(ms * 1e6))

export class DelayedBlocks {
  /** Smallest delay between a block's time and the writing of its lines. */
  readonly leastNs: bigint
  readonly #seed: number
  readonly #delayMs: Quantiles | null
  readonly #waiting: { readonly block: DevnetBlock; readonly dueNs: bigint }[] = []
  /** The blocks that were released last. */
  #written: DevnetBlock[] = []
  #heldUntilNs = 0n
  #rewritten = 0

  /** `delayMs`: null for no delay. Delays are derived from seed and height. */
  constructor(seed: number, delayMs: Quantiles | null) {
    this.#seed = seed
    this.#delayMs = delayMs
    this.leastNs = ns(delayMs?.[0]?.[1] ?? 0)
  }

  /** Time at which the next block is due; null if there is none. */
  get nextNs(): bigint | null {
    const dueNs = this.#waiting[0]?.dueNs
    return dueNs === undefined ? null : this.isHeld(dueNs) ? this.#heldUntilNs : dueNs
  }

  /** True while nothing is released. */
  isHeld(nowNs: bigint): boolean {
    return nowNs < this.#heldUntilNs
  }

  /** Adds a block. Its smallest delay must be over at `nowNs`. */
  push(block: DevnetBlock, nowNs: bigint): void {
    const share = new Prng(seedState(this.#seed + block.height * 2 ** 20)).below(1_000_000) / 1e6
    const moreNs = this.#delayMs === null ? 0n : ns(quantile(this.#delayMs, share)) - this.leastNs
    this.#waiting.push({ block, dueNs: nowNs + moreNs })
  }

  /**
   * Releases nothing before `untilNs`. Then the last `rewritten` blocks are released again, followed by all waiting
   * blocks.
   */
  hold(untilNs: bigint, rewritten: number): void {
    this.#heldUntilNs = untilNs
    this.#rewritten = rewritten
  }

  /** Releases the blocks that are due. */
  due(nowNs: bigint): DevnetBlock[] {
    if (this.isHeld(nowNs)) return []
    const waiting = this.#waiting.findIndex(({ dueNs }) => dueNs > nowNs)
    return this.#release(waiting < 0 ? this.#waiting.length : waiting)
  }

  /** Releases all blocks, even those that are not due yet. */
  all(): DevnetBlock[] {
    return this.#release(this.#waiting.length)
  }

  #release(count: number): DevnetBlock[] {
    const again = this.#rewritten === 0 ? [] : this.#written.slice(-this.#rewritten)
    this.#rewritten = 0
    const out = this.#waiting.splice(0, count).map(({ block }) => block)
    this.#written = [...this.#written, ...out].slice(-MAX_REWRITTEN)
    return [...again, ...out]
  }
}
