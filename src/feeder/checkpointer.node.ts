// Writes checkpoints: the books are put into text at a block's end, and reach the disk once that block is durable
// at the gateway, so that a checkpoint never stands ahead of the log.

import type { BookKeeper } from './book-keeper.ts'
import { encodeCheckpoint } from './checkpoint.ts'
import type { CheckpointFiles } from './checkpoint-files.node.ts'

/** The first one comes soon: until there is one, a restart costs the gateway a new epoch. */
const FIRST_AFTER_MS = 2_000

export class Checkpointer {
  readonly #files: CheckpointFiles
  readonly #keeper: BookKeeper
  readonly #chain: string
  readonly #everyMs: number
  readonly #say: (sentence: string) => void
  #held: { readonly height: number; readonly lines: readonly string[] } | null = null
  #nextAt: number | null = null
  #writing: Promise<void> | null = null

  constructor(
    files: CheckpointFiles,
    keeper: BookKeeper,
    chain: string,
    everyMs: number,
    say: (sentence: string) => void,
  ) {
    this.#files = files
    this.#keeper = keeper
    this.#chain = chain
    this.#everyMs = everyMs
    this.#say = say
  }

  /** Height of the books that wait for their acknowledgement, null if none do. */
  get heldHeight(): number | null {
    return this.#held?.height ?? null
  }

  /** Takes and writes what is due. Called between blocks. */
  tick(nowMs: number, durable: number | null): void {
    this.#nextAt ??= this.#keeper.books ? nowMs + FIRST_AFTER_MS : null
    if (!this.#held && this.#nextAt !== null && nowMs >= this.#nextAt) this.take(nowMs)
    if (!this.#held || this.#writing || durable === null || durable < this.#held.height) return
    const { lines } = this.#held
    this.#held = null
    this.#writing = this.#files
      .write(lines)
      .catch((error) => this.#say(`the checkpoint could not be written: ${error.message}`))
      .finally(() => {
        this.#writing = null
      })
  }

  /** Puts the present books into text, in place of those held; nothing while they are unknown or suspect. */
  take(nowMs: number): void {
    const { books, place } = this.#keeper
    if (!books || !place?.time || books.suspects.size > 0) return
    this.#held = { height: place.height, lines: [...encodeCheckpoint(this.#chain, place, books)] }
    this.#nextAt = nowMs + this.#everyMs
  }

  /** Forgets what is held: the chain began anew. */
  reset(): void {
    this.#held = null
    this.#nextAt = null
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#writing
  }
}
