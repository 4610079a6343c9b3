// One run: the files of a source in order, what of them is wanted and not there, into the gateway. Laws: heights rise; a body
// that was sent is there for good, and a run that ends anywhere is gone on with by the same command.

import { BACKFILL_SPAN } from '../../archive/archive/backfill-lines.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { type ReadBlock, readBlocks } from './read-blocks.ts'
import { isBelow, isWanted, type PlannedFile } from './source-files.ts'
import type { Held } from './window.ts'
import { type Place, shareOf, sideOf, type Window } from './window.ts'

/** A body ends with the first minute that ends behind so much … */
const ENOUGH_CHARS = 1024 * 1024
/** … and never has more; a character is three bytes at most. */
const CHARS_MOST = 2.5 * 1024 * 1024
/** What is wrong with a source is told so often, and then counted. */
const FAULTS_TOLD = 20

/** What the gateway says to a body. */
export interface Taken {
  readonly blocks: number
  readonly segments: number
  readonly bytes: number
  /** Blocks from this height on are to be sent again. */
  readonly next: number | null
}

export interface FillPorts {
  send(body: readonly ReadBlock[]): Promise<Result<Taken, string>>
  note(sentence: string): void
  /** How much of the window was read, and how many blocks of it. */
  progress(share: number, blocks: number, at: Place): void
  isStopped(): boolean
}

export interface Filled {
  /** Blocks that were sent, and those of them that were not there. */
  readonly sent: number
  readonly blocks: number
  readonly segments: number
  readonly bytes: number
  /** Lines and files that could not be read. */
  readonly faults: number
  readonly last: Place | null
  readonly isStopped: boolean
}

export class Filling {
  readonly #window: Window
  readonly #held: Held
  readonly #ports: FillPorts
  readonly #bodies = new Bodies()
  readonly #sums = { sent: 0, blocks: 0, segments: 0, bytes: 0, faults: 0 }
  #read = 0
  #next = 0
  #last: Place | null = null
  #isOver = false

  constructor(window: Window, held: Held, ports: FillPorts) {
    this.#window = window
    this.#held = held
    this.#ports = ports
  }

  /** The files in order. An error is a refusal of the gateway; what was sent before it is there. */
  async run(files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>): Promise<Result<Filled, string>> {
    for await (const file of this.#wanted(files)) {
      const refused = await this.#file(file)
      if (refused !== null) return err(refused)
      if (this.#isEnd) break
    }
    const refused = await this.#send(this.#bodies.flush())
    if (refused !== null) return err(refused)
    return ok({ ...this.#sums, last: this.#last, isStopped: this.#ports.isStopped() })
  }

  get #isEnd(): boolean {
    return this.#isOver || this.#ports.isStopped()
  }

  async *#wanted(files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>): AsyncGenerator<PlannedFile> {
    let waiting: PlannedFile | null = null
    let isReached = !('height' in this.#window.from)
    for await (const file of files) {
      if (!isWanted(file.form, this.#window, this.#held)) continue
      // A file of a node ends where the next begins, and what ends below the first height is not read.
      if (!isReached && file.form.kind === 'node') {
        isReached = !isBelow(await firstPlace(file), this.#window)
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

  async #file(file: PlannedFile): Promise<string | null> {
    for await (const read of readBlocks(file, (place) => this.#wants(place))) {
      if (read.kind === 'fault') this.#fault(read.sentence)
      else if (read.kind === 'passed') this.#told(read.place)
      else {
        this.#told(read.block)
        this.#next = read.block.height + 1
        const refused = await this.#send(this.#bodies.push(read.block))
        if (refused !== null) return refused
      }
      if (this.#isEnd) return null
    }
    return null
  }

  #wants(place: Place): boolean {
    const { height } = place
    const side = sideOf(place, this.#window)
    if (side === 'behind' || height >= this.#held.before.height) this.#isOver = true
    return side === 'in' && !this.#isOver && height >= this.#next && !this.#held.has(height)
  }

  #told(place: Place): void {
    if (this.#isOver) return
    this.#read++
    this.#last = place
    this.#ports.progress(shareOf(place, this.#window, this.#held.before), this.#read, place)
  }

  #fault(sentence: string): void {
    const { faults } = this.#sums
    this.#sums.faults++
    if (faults < FAULTS_TOLD) this.#ports.note(sentence)
    else if (faults === FAULTS_TOLD) this.#ports.note('More of it is only counted.')
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
async function firstPlace(file: PlannedFile): Promise<Place | null> {
  for await (const read of readBlocks(file, () => false)) return read.kind === 'passed' ? read.place : null
  return null
}

/** Blocks, put together into what is sent at once: never more than the gateway takes, and up to the end of a minute where that
 * is possible, since segments end there. */
export class Bodies {
  #held: ReadBlock[] = []
  #chars = 0

  /** Takes the next block; answers a body that is whole by it. */
  push(block: ReadBlock): readonly ReadBlock[] | null {
    const body = this.#endsBefore(block) ? this.flush() : null
    this.#held.push(block)
    this.#chars += block.line.length + 1
    return body
  }

  /** What is left. */
  flush(): readonly ReadBlock[] | null {
    const body = this.#held
    this.#held = []
    this.#chars = 0
    return body.length === 0 ? null : body
  }

  #endsBefore({ height, time, line }: ReadBlock): boolean {
    const first = this.#held[0]
    const last = this.#held.at(-1)
    if (!first || !last) return false
    const isNewMinute = Math.floor(time / MINUTE_MS) !== Math.floor(last.time / MINUTE_MS)
    if (isNewMinute && this.#chars >= ENOUGH_CHARS) return true
    return this.#chars + line.length > CHARS_MOST || height - first.height > BACKFILL_SPAN
  }
}
