// The segment that is being filled: blocks that were sent to readers but are not stored yet.

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

/** A segment to store: its lines, its first and last height, and the block time of its last block. */
export interface NewSegment {
  readonly first: number
  readonly last: number
  readonly time: number
  /** Lines by kind. A kind is absent if no block has lines of it. */
  readonly lines: Readonly<Partial<Record<SegmentKind, string>>>
}

export class PendingSegment {
  #blocks: BlockTexts[] = []
  #chars = 0
  #l4Chars = 0
  #startedMs = 0
  /** Coins that were repaired after the last block, and coins that were repaired earlier, by height. */
  #repairedCoins: readonly string[] = []
  #repairs = new Map<number, readonly string[]>()

  /** Adds the next block. Returns true if the segment should be stored now. */
  push(texts: BlockTexts, nowMs: number): boolean {
    if (this.#blocks.length === 0) this.#startedMs = nowMs
    this.#blocks.push(texts)
    if (this.#repairedCoins.length > 0) this.#repairs.set(texts.height, this.#repairedCoins)
    this.#repairedCoins = []
    for (const { text } of [...(texts.books ?? []), ...texts.orders]) this.#chars += text.length
    this.#chars += texts.events.length + texts.payments.length + texts.replica.length
    for (const text of texts.l4.values()) this.#l4Chars += text.length
    const isFull = this.#chars >= SEGMENT_CHARS || this.#l4Chars >= L4_CHARS
    return isFull || nowMs - this.#startedMs >= SEGMENT_MS
  }

  /** Records repaired books. No block leads to their current state, so the line of the next block names them. */
  addRepaired(coins: Iterable<string>): void {
    this.#repairedCoins = [...new Set([...this.#repairedCoins, ...coins])]
  }

  /** Repaired coins that no line names yet. */
  get unrecordedRepairs(): readonly string[] {
    return this.#repairedCoins
  }

  /** Discards the repairs, because all books start over. */
  forgetRepairs(): void {
    this.#repairedCoins = []
  }

  /** The pending blocks, oldest first. */
  get blocks(): readonly BlockTexts[] {
    return this.#blocks
  }

  /** Removes all blocks and returns them as one segment; null if there are none. */
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
      ...(blocks.some(({ replica }) => replica !== '') && {
        replica: blocks.map(({ replica }) => replica).join('\n'),
      }),
      ...(blocks.some(({ l4 }) => l4.size > 0) && { l4: blocks.map(l4Line).join('\n') }),
    }
    return { first: first.height, last: last.height, time: last.time, lines }
  }
}
