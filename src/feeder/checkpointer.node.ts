// Writes checkpoints: coin by coin into a file beside, some thousand orders between two blocks, and into its place once
// the last coin's block is durable at the gateway, so that a checkpoint never stands ahead of the log.

import type { BookKeeper } from './book-keeper.ts'
import { CheckpointPass } from './checkpoint.ts'
import type { CheckpointDraft, CheckpointFiles } from './checkpoint-files.node.ts'

/** The first one comes soon: until there is one, a restart costs the gateway a new epoch. */
const FIRST_AFTER_MS = 2_000

export class Checkpointer {
  readonly #files: CheckpointFiles
  readonly #keeper: BookKeeper
  readonly #chain: string
  readonly #everyMs: number
  readonly #say: (sentence: string) => void
  #pass: CheckpointPass | null = null
  #draft: CheckpointDraft | null = null
  /** All lines are written: the last block has to become durable. */
  #isWritten = false
  #nextAt: number | null = null
  #busy: Promise<void> | null = null

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

  /** Does the next step of what is due. Called between blocks. */
  tick(nowMs: number, durable: number | null): void {
    this.#nextAt ??= this.#keeper.books ? nowMs + FIRST_AFTER_MS : null
    if (this.#busy || this.#nextAt === null) return
    if (!this.#pass && nowMs >= this.#nextAt) this.#begin(nowMs)
    if (this.#pass) this.#do(this.#step(this.#pass, durable))
  }

  /** Takes one at once and puts it in its place, where `isDurable` says in time that the log has its last block. */
  async last(nowMs: number, isDurable: (height: number) => Promise<boolean>): Promise<void> {
    await this.#busy
    await this.#drop()
    this.#begin(nowMs)
    const pass = this.#pass
    if (!pass) return
    while (!this.#isWritten && this.#pass) {
      this.#do(this.#step(pass, null))
      await this.#busy
    }
    const isOfUse = this.#pass !== null && (await isDurable(pass.height))
    this.#do(isOfUse ? this.#step(pass, pass.height) : this.#drop())
    await this.#busy
  }

  #begin(nowMs: number): void {
    const { books, place } = this.#keeper
    if (!books || !place?.time || !this.#keeper.isLevel || books.suspects.size > 0) return
    this.#pass = new CheckpointPass(this.#chain, place, books)
    this.#nextAt = nowMs + this.#everyMs
  }

  async #step(pass: CheckpointPass, durable: number | null): Promise<void> {
    const { books, place } = this.#keeper
    if (!pass.isOf(books) || !place) return this.#drop()
    if (this.#isWritten) {
      if (durable === null || durable < pass.height) return
      await this.#draft?.publish()
      this.#draft = null
      return this.#drop()
    }
    // The lines are cut now, between two blocks; the file may take its time.
    const lines = pass.step(place)
    if (lines?.length === 0) return
    if (!this.#draft) {
      this.#draft = await this.#files.draft()
      await this.#draft.write([pass.head])
    }
    await this.#draft.write(lines ?? [pass.end])
    this.#isWritten = lines === null
  }

  #do(work: Promise<void>): void {
    this.#busy = work
      .catch(async (error: Error) => {
        this.#say(`the checkpoint could not be written: ${error.message}`)
        await this.#drop()
      })
      .finally(() => {
        this.#busy = null
      })
  }

  async #drop(): Promise<void> {
    const draft = this.#draft
    this.#draft = null
    this.#pass?.drop()
    this.#pass = null
    this.#isWritten = false
    await draft?.drop()
  }
}
