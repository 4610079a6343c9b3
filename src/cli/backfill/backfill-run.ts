// One backfill run: reads the files of a source in order and sends missing blocks to the gateway. Invariants: heights only
// rise; a sent batch is archived for good, so the same command continues an interrupted run.

import { MAX_BACKFILL_SPAN } from '../../archive/archive/backfill-lines.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { type ReadBlock, readBlocks } from './read-blocks.ts'
import { isBelow, isNeeded, type PlannedFile } from './source-files.ts'
import type { ArchivedRange } from './window.ts'
import { type BlockPosition, shareOf, sideOf, type Window } from './window.ts'

/** A batch ends at the first minute boundary after this many characters. */
const TARGET_CHARS = 1024 * 1024
/** Maximum number of characters in a batch. A character takes at most three bytes. */
const CHARS_MAX = 2.5 * 1024 * 1024
/** Further faults of a source are only counted. */
const FAULTS_REPORTED_MAX = 20

/** The response to a batch. */
export interface BatchResult {
  readonly blocks: number
  readonly segments: number
  readonly bytes: number
  /** Blocks at or above this height must be sent again. */
  readonly next: number | null
}

export interface BackfillPorts {
  /** Adds what other files of the source have of a block. Heights rise. An error ends the run. */
  complete(block: ReadBlock): Promise<Result<ReadBlock, string>>
  send(batch: readonly ReadBlock[]): Promise<Result<BatchResult, string>>
  note(message: string): void
  /** Reports the share of the window and the number of blocks read. */
  progress(share: number, blocks: number, at: BlockPosition): void
  isStopped(): boolean
}

export interface BackfillResult {
  /** Number of blocks sent, and number of those that were new. */
  readonly sent: number
  readonly blocks: number
  readonly segments: number
  readonly bytes: number
  /** Lines and files that could not be read. */
  readonly faults: number
  readonly last: BlockPosition | null
  readonly isStopped: boolean
}

export class BackfillRun {
  readonly #window: Window
  readonly #archived: ArchivedRange
  readonly #ports: BackfillPorts
  readonly #batches = new BatchBuilder()
  readonly #sums = { sent: 0, blocks: 0, segments: 0, bytes: 0, faults: 0 }
  #read = 0
  #next = 0
  #last: BlockPosition | null = null
  #isDone = false

  constructor(window: Window, held: ArchivedRange, ports: BackfillPorts) {
    this.#window = window
    this.#archived = held
    this.#ports = ports
  }

  /** Processes files in order. An error comes from the gateway; earlier batches stay archived. */
  async run(files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>): Promise<Result<BackfillResult, string>> {
    for await (const file of this.#neededFiles(files)) {
      const error = await this.#readFile(file)
      if (error !== null) return err(error)
      if (this.#isFinished) break
    }
    const error = await this.#send(this.#batches.flush())
    if (error !== null) return err(error)
    return ok({ ...this.#sums, last: this.#last, isStopped: this.#ports.isStopped() })
  }

  get #isFinished(): boolean {
    return this.#isDone || this.#ports.isStopped()
  }

  async *#neededFiles(files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>): AsyncGenerator<PlannedFile> {
    let waiting: PlannedFile | null = null
    let isReached = !('height' in this.#window.from)
    for await (const file of files) {
      if (!isNeeded(file.form, this.#window, this.#archived)) continue
      // A node file ends where the next one starts. Files that end below the first height are skipped.
      if (!isReached && file.form.kind === 'node') {
        isReached = !isBelow(await firstPosition(file), this.#window)
        if (waiting && isReached) yield waiting
        waiting = file
        continue
      }
      if (waiting) yield waiting
      waiting = null
      yield file
    }
    if (waiting) yield waiting
  }

  async #readFile(file: PlannedFile): Promise<string | null> {
    for await (const read of readBlocks(file, (position) => this.#needs(position))) {
      if (read.kind === 'fault') this.#reportFault(read.sentence)
      else if (read.kind === 'skipped') this.#advance(read.position)
      else {
        this.#advance(read.block)
        this.#next = read.block.height + 1
        const block = await this.#ports.complete(read.block)
        if (!block.ok) return block.error
        const error = await this.#send(this.#batches.push(block.value))
        if (error !== null) return error
      }
      if (this.#isFinished) return null
    }
    return null
  }

  #needs(position: BlockPosition): boolean {
    const { height } = position
    const side = sideOf(position, this.#window)
    if (side === 'behind' || height >= this.#archived.end.height) this.#isDone = true
    return side === 'in' && !this.#isDone && height >= this.#next && this.#archived.isWanted(height)
  }

  #advance(position: BlockPosition): void {
    if (this.#isDone) return
    this.#read++
    this.#last = position
    this.#ports.progress(shareOf(position, this.#window, this.#archived.end), this.#read, position)
  }

  #reportFault(message: string): void {
    const { faults } = this.#sums
    this.#sums.faults++
    if (faults < FAULTS_REPORTED_MAX) this.#ports.note(message)
    else if (faults === FAULTS_REPORTED_MAX) this.#ports.note('Further faults are only counted.')
  }

  /** Sends a batch, unless all of it is archived. Returns an error message or null. */
  async #send(batch: readonly ReadBlock[] | null): Promise<string | null> {
    const isNew = batch?.some(({ height }) => !this.#archived.has(height))
    for (let left = isNew ? (batch ?? []) : []; left.length > 0; ) {
      const sent = await this.#ports.send(left)
      if (!sent.ok) return sent.error
      const { next, ...sums } = sent.value
      for (const name of ['blocks', 'segments', 'bytes'] as const) this.#sums[name] += sums[name]
      const again = next === null ? [] : left.filter(({ height }) => height >= next)
      this.#sums.sent += left.length - again.length
      if (again.length === left.length) return 'The gateway accepted none of the blocks that it requested again.'
      left = again
    }
    return null
  }
}

/** Position of the first block of a file. */
async function firstPosition(file: PlannedFile): Promise<BlockPosition | null> {
  for await (const read of readBlocks(file, () => false)) return read.kind === 'skipped' ? read.position : null
  return null
}

/** Groups blocks into batches within the limits of the gateway, ending at a minute boundary where possible, because segments
 * end there. */
export class BatchBuilder {
  #blocks: ReadBlock[] = []
  #chars = 0

  /** Adds a block; returns the batch that it completes, if any. */
  push(block: ReadBlock): readonly ReadBlock[] | null {
    const batch = this.#isFullBefore(block) ? this.flush() : null
    this.#blocks.push(block)
    this.#chars += block.line.length + 1
    return batch
  }

  /** Returns the remaining blocks. */
  flush(): readonly ReadBlock[] | null {
    const batch = this.#blocks
    this.#blocks = []
    this.#chars = 0
    return batch.length === 0 ? null : batch
  }

  #isFullBefore({ height, time, line }: ReadBlock): boolean {
    const first = this.#blocks[0]
    const last = this.#blocks.at(-1)
    if (!first || !last) return false
    const isNewMinute = Math.floor(time / MINUTE_MS) !== Math.floor(last.time / MINUTE_MS)
    if (isNewMinute && this.#chars >= TARGET_CHARS) return true
    return this.#chars + line.length > CHARS_MAX || height - first.height > MAX_BACKFILL_SPAN
  }
}
