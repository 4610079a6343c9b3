// Tells the blocks of a window to whoever asked for them. Law: each once and in order, however often a page repeats it.

import type { Seam } from '../../archive/files/seam.ts'
import type { EventBlock, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import type { PastWindow, TakeBlock } from '../ports.ts'

export class Telling {
  readonly #window: PastWindow
  readonly #seam: Seam
  readonly #take: TakeBlock
  #isHoleNext = false
  /** The block that was told last. */
  last: HeightAndTime | null = null

  constructor(window: PastWindow, seam: Seam, take: TakeBlock) {
    this.#window = window
    this.#seam = seam
    this.#take = take
  }

  /** Whatever is told next comes after a hole. */
  hole(): void {
    this.#isHoleNext = true
  }

  /** False where somebody has enough. */
  all(blocks: readonly EventBlock[]): boolean {
    return blocks.every((block) => this.#tell(block))
  }

  #tell(block: EventBlock): boolean {
    const { fromMs, toMs, order } = this.#window
    const { last } = this
    const isOnward = last === null || (order === 'newest' ? block.height < last.height : block.height > last.height)
    if (!isOnward || block.time < fromMs || block.time > toMs || this.#seam.isMissing(block.height)) return true
    const isAfterHole = this.#isHoleNext || (last !== null && this.#isBetween(block.height, last.height))
    this.#isHoleNext = false
    this.last = { height: block.height, time: block.time }
    return this.#take(block, isAfterHole)
  }

  #isBetween(one: number, other: number): boolean {
    return this.#seam.isHole(Math.min(one, other), Math.max(one, other))
  }
}
