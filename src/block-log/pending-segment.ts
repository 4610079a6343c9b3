// The segment being filled: blocks that readers have, but storage does not.

import {
  type BlockTexts,
  hubBlockText,
  L4_CHARS,
  l4Line,
  ordersLine,
  SEGMENT_CHARS,
  SEGMENT_MS,
  type SegmentKind,
} from './segment.ts'

/** A segment to store: its lines, and the heights and block time they end with. */
export interface NewSegment {
  readonly first: number
  readonly last: number
  readonly time: number
  /** A kind may be missing if no block has lines of it. */
  readonly lines: Readonly<Partial<Record<SegmentKind, string>>>
}

export class PendingSegment {
  #blocks: BlockTexts[] = []
  #chars = 0
  #l4Chars = 0
  #startedMs = 0
  /** Coins repaired after the last block, and coins repaired earlier, by height. */
  #repairedCoins: readonly string[] = []
  #repairs = new Map<number, readonly string[]>()

  /** Adds the next block. Returns true when the segment should be stored now. */
  push(texts: BlockTexts, nowMs: number): boolean {
    if (this.#blocks.length === 0) this.#startedMs = nowMs
    this.#blocks.push(texts)
    if (this.#repairedCoins.length > 0) this.#repairs.set(texts.height, this.#repairedCoins)
    this.#repairedCoins = []
    for (const { text } of [...(texts.books ?? []), ...texts.orders]) this.#chars += text.length
    this.#chars += texts.events.length + texts.payments.length
    for (const text of texts.l4.values()) this.#l4Chars += text.length
    const isFull = this.#chars >= SEGMENT_CHARS || this.#l4Chars >= L4_CHARS
    return isFull || nowMs - this.#startedMs >= SEGMENT_MS
  }

  /** Records repaired books: no block leads to their current state, so the next block's line names them. */
  addRepaired(coins: Iterable<string>): void {
    this.#repairedCoins = [...new Set([...this.#repairedCoins, ...coins])]
  }

  /** Repaired coins that no line names yet. */
  get unrecordedRepairs(): readonly string[] {
    return this.#repairedCoins
  }

  /** Forgets the repairs: all books start over. */
  forgetRepairs(): void {
    this.#repairedCoins = []
  }

  /** The pending blocks, oldest first. */
  get blocks(): readonly BlockTexts[] {
    return this.#blocks
  }

  /** Removes everything as one segment; null if nothing waits. */
  take(): NewSegment | null {
    const blocks = this.#blocks
    const first = blocks[0]
    const last = blocks.at(-1)
    const repairs = this.#repairs
    this.#blocks = []
    this.#repairs = new Map()
    this.#chars = 0
    this.#l4Chars = 0
    if (!first || !last) return null
    const lines = {
      books: blocks.map((texts) => hubBlockText(texts, () => true, repairs.get(texts.height))).join('\n'),
      events: blocks.map(({ events }) => events).join('\n'),
      ...(blocks.some(({ orders }) => orders.length > 0) && { orders: blocks.map(ordersLine).join('\n') }),
      ...(blocks.some(({ payments }) => payments !== '') && {
        payments: blocks.map(({ payments }) => payments).join('\n'),
      }),
      ...(blocks.some(({ l4 }) => l4.size > 0) && { l4: blocks.map(l4Line).join('\n') }),
    }
    return { first: first.height, last: last.height, time: last.time, lines }
  }
}
