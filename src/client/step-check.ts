// Compares a live book with the snapshot whose `seq` equals its own. The book moves while the snapshot
// travels, so the states of the meantime are kept until one of them has the snapshot's seq.

import { LevelBook } from '../book/level-book.ts'
import type { Levels } from '../feed/block.ts'
import type { CoinBook, Snapshot } from './bootstrap.ts'

export type Verdict =
  | { readonly kind: 'in_step'; readonly seq: number; readonly height: number }
  /** `changes`: what would turn the local book into the snapshot, levels of both sides. */
  | { readonly kind: 'differs'; readonly seq: number; readonly height: number; readonly changes: Levels }

/** States kept while a snapshot travels: at 14.5 blocks/s about four seconds. */
const KEEP_MAX = 64

export class StepCheck {
  readonly #kept: { readonly epoch: string; readonly seq: number; readonly levels: Levels }[] = []
  #snapshot: Snapshot | null = null

  /** Begins with the book's present state; call before the snapshot is asked for. */
  constructor(book: CoinBook) {
    this.#keep(book)
  }

  /** The book changed. A verdict where the snapshot waited for this state. */
  changed(book: CoinBook): Verdict | null {
    this.#keep(book)
    return this.#verdict()
  }

  /**
   * The snapshot came. Null: its seq is still ahead of the book, wait for `changed`;
   * `stale`: no kept state has its epoch and seq, or can have any more.
   */
  snapshot(snapshot: Snapshot): Verdict | 'stale' | null {
    this.#snapshot = snapshot
    const last = this.#kept.at(-1)
    if (!last || last.epoch !== snapshot.epoch) return 'stale'
    return this.#verdict() ?? (snapshot.seq > last.seq ? null : 'stale')
  }

  #keep(book: CoinBook): void {
    if (!book.live || this.#kept.at(-1)?.seq === book.seq) return
    this.#kept.push({ epoch: book.epoch, seq: book.seq, levels: book.levels() })
    if (this.#kept.length > KEEP_MAX) this.#kept.shift()
  }

  #verdict(): Verdict | null {
    const snapshot = this.#snapshot
    if (!snapshot) return null
    const local = this.#kept.find((kept) => kept.epoch === snapshot.epoch && kept.seq === snapshot.seq)
    if (!local) return null
    const changes = LevelBook.of(local.levels).changesTo(LevelBook.of(snapshot.levels))
    const { seq, height } = snapshot
    if (changes[0].length + changes[1].length === 0) return { kind: 'in_step', seq, height }
    return { kind: 'differs', seq, height, changes }
  }
}
