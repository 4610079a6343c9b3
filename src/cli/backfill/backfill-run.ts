// One run: the files of a source in order, what of them is wanted and not there, into the gateway. Laws: heights rise; a body
// that was sent is there for good, and a run that ends anywhere is gone on with by the same command.

import { MAX_BACKFILL_SPAN } from '../../archive/archive/backfill-lines.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { type ReadBlock, readBlocks } from './read-blocks.ts'
import { isBelow, isNeeded, type PlannedFile } from './source-files.ts'
import type { ArchivedRange } from './window.ts'
import { type BlockPosition, shareOf, sideOf, type Window } from './window.ts'

/** A body ends with the first minute that ends behind so much … */
const TARGET_CHARS = 1024 * 1024
/** … and never has more; a character is three bytes at most. */
const CHARS_MAX = 2.5 * 1024 * 1024
/** What is wrong with a source is told so often, and then counted. */
const FAULTS_REPORTED_MAX = 20

/** What the gateway says to a body. */
export interface BatchResult {
  readonly blocks: number
  readonly segments: number
  readonly bytes: number
  /** Blocks from this height on are to be sent again. */
  readonly next: number | null
}

export interface BackfillPorts {
  send(body: readonly ReadBlock[]): Promise<Result<BatchResult, string>>
  note(sentence: string): void
  /** How much of the window was read, and how many blocks of it. */
  progress(share: number, blocks: number, at: BlockPosition): void
  isStopped(): boolean
}

export interface BackfillResult {
  /** Blocks that were sent, and those of them that were not there. */
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

  /** The files in order. An error is a refusal of the gateway; what was sent before it is there. */
  async run(files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>): Promise<Result<BackfillResult, string>> {
    for await (const file of this.#neededFiles(files)) {
      const refused = await this.#readFile(file)
      if (refused !== null) return err(refused)
      if (this.#isFinished) break
    }
    const refused = await this.#send(this.#batches.flush())
    if (refused !== null) return err(refused)
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
      // A file of a node ends where the next begins, and what ends below the first height is not read.
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
    for await (const read of readBlocks(file, (place) => this.#needs(place))) {
      if (read.kind === 'fault') this.#reportFault(read.sentence)
      else if (read.kind === 'passed') this.#advance(read.place)
      else {
        this.#advance(read.block)
        this.#next = read.block.height + 1
        const refused = await this.#send(this.#batches.push(read.block))
        if (refused !== null) return refused
      }
      if (this.#isFinished) return null
    }
    return null
  }

  #needs(place: BlockPosition): boolean {
    const { height } = place
    const side = sideOf(place, this.#window)
    if (side === 'behind' || height >= this.#archived.liveFrom.height) this.#isDone = true
    return side === 'in' && !this.#isDone && height >= this.#next && !this.#archived.has(height)
  }

  #advance(place: BlockPosition): void {
    if (this.#isDone) return
    this.#read++
    this.#last = place
    this.#ports.progress(shareOf(place, this.#window, this.#archived.liveFrom), this.#read, place)
  }

  #reportFault(sentence: string): void {
    const { faults } = this.#sums
    this.#sums.faults++
    if (faults < FAULTS_REPORTED_MAX) this.#ports.note(sentence)
    else if (faults === FAULTS_REPORTED_MAX) this.#ports.note('More of it is only counted.')
  }

  /** What the gateway refuses. */
  async #send(body: readonly ReadBlock[] | null): Promise<string | null> {
    for (let left = body ?? []; left.length > 0; ) {
      const taken = await this.#ports.send(left)
      if (!taken.ok) return taken.error
      const { next, ...sums } = taken.value
      for (const name of ['blocks', 'segments', 'bytes'] as const) this.#sums[name] += sums[name]
      const again = next === null ? [] : left.filter(({ height }) => height >= next)
      this.#sums.sent += left.length - again.length
      if (again.length === left.length) return 'The gateway took nothing of what it asked for again.'
      left = again
    }
    return null
  }
}

/** The first block of a file. */
async function firstPosition(file: PlannedFile): Promise<BlockPosition | null> {
  for await (const read of readBlocks(file, () => false)) return read.kind === 'passed' ? read.place : null
  return null
}

/** Blocks, put together into what is sent at once: never more than the gateway takes, and up to the end of a minute where that
 * is possible, since segments end there. */
export class BatchBuilder {
  #blocks: ReadBlock[] = []
  #chars = 0

  /** Takes the next block; answers a body that is whole by it. */
  push(block: ReadBlock): readonly ReadBlock[] | null {
    const body = this.#isFullBefore(block) ? this.flush() : null
    this.#blocks.push(block)
    this.#chars += block.line.length + 1
    return body
  }

  /** What is left. */
  flush(): readonly ReadBlock[] | null {
    const body = this.#blocks
    this.#blocks = []
    this.#chars = 0
    return body.length === 0 ? null : body
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
