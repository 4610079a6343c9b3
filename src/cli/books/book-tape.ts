// The order book of one coin as a sequence of events, from a checkpoint and the archived blocks after it. Invariants: events are in
// the order of heights; every part starts with a snapshot or a gap; changes follow a snapshot without interruption; nothing is
// reported between a gap and the next snapshot, except trades.

import type { ArchivedBook, ArchivedCheckpoint } from '../../archive/archive/archive-read.ts'
import { HistoricalBooks } from '../../archive/replay/historical-books.ts'
import type { Coin } from '../../core/coin.ts'
import type { Levels } from '../../protocol/feed/block.ts'
import type { HubBlock } from '../../protocol/feed/log-api.ts'
import type { Trade } from '../../protocol/feed/trades.ts'

interface At {
  readonly height: number
  readonly timeMs: number
}

export type TapeEvent =
  /** The whole book after the block, best first. */
  | (At & { readonly kind: 'snapshot'; readonly seq: number; readonly levels: Levels })
  /** New states of levels after the block; `n` 0 removes a level. */
  | (At & { readonly kind: 'change'; readonly seq: number; readonly levels: Levels })
  /** The book is unknown from block `height` on. `timeMs`: time of the last block with a known book, or of this block. */
  | (At & { readonly kind: 'gap' })
  | (At & { readonly kind: 'trade'; readonly trade: Pick<Trade, 'side' | 'px' | 'sz'> })

export class BookTape {
  readonly coin: Coin
  #books: HistoricalBooks | null = null
  /** `begin`: a part begins and has no event yet. `lost`: its gap was reported. */
  #state: 'begin' | 'lost' | 'known' = 'begin'

  constructor(coin: Coin) {
    this.coin = coin
  }

  /** True until `restart`: no block can be applied. */
  get isLost(): boolean {
    return this.#books === null
  }

  /** Continues from a checkpoint. `book`: the coin's book in it, or null if it has none. */
  restart(checkpoint: ArchivedCheckpoint, book: ArchivedBook | null): void {
    this.#books = new HistoricalBooks(checkpoint, book === null ? [] : [book])
  }

  /** Begins a new part, such as the file of the next day. */
  begin(): void {
    this.#state = 'begin'
  }

  /** Events of the next block. `isWanted`: false for a block before the range, which only updates the book. */
  apply(block: HubBlock, isWanted: boolean): TapeEvent[] {
    const { height, time } = block
    const books = this.#books
    const lastMs = books?.time ?? time
    const fragments = books?.apply(ofCoin(block, this.coin)) ?? null
    if (books === null || fragments === null) {
      this.#books = null
      return isWanted ? this.#lose(books?.loss ?? { height }, height, lastMs, time) : []
    }
    if (!isWanted || books.completeAt > height) return []
    if (this.#state !== 'known') {
      this.#state = 'known'
      return [{ kind: 'snapshot', height, timeMs: time, ...snapshotOf(books, this.coin) }]
    }
    return fragments.map(({ levels }) => {
      return { kind: 'change', height, timeMs: time, seq: height, levels: JSON.parse(levels) as Levels }
    })
  }

  #lose(
    loss: { readonly from?: number; readonly height?: number },
    height: number,
    lastMs: number,
    time: number,
  ): TapeEvent[] {
    const { from = loss.height ?? height } = loss
    const before = this.#state
    this.#state = 'lost'
    if (before === 'lost') return []
    return [before === 'begin' ? { kind: 'gap', height, timeMs: time } : { kind: 'gap', height: from, timeMs: lastMs }]
  }
}

function snapshotOf(books: HistoricalBooks, coin: Coin): { readonly seq: number; readonly levels: Levels } {
  const found = books.snapshot(coin)
  return { seq: found?.seq ?? books.height, levels: books.bookOf(coin)?.levels() ?? [[], []] }
}

/** The block with the changes and repairs of one coin. */
function ofCoin({ repaired = [], ...block }: HubBlock, coin: Coin): HubBlock {
  const books = block.books?.filter((change) => change.coin === coin) ?? null
  return { ...block, books, ...(repaired.includes(coin) && { repaired: [coin] }) }
}
