// Finds the events of a height in the files of one stream of a node. A node writes no line for a block without such events,
// so a height between two lines has none. Invariants: heights are requested in rising order, and each file is read once; a
// height is unknown before the first line, after the last one, and where an hour or a part of a file is missing.

import { HOUR_MS } from '../../core/time.ts'
import { readEvents, readLineHead } from '../../feeder/streams.ts'
import { fileFaultText, LINE_CHARS, type NodeError, textLines } from './text-lines.ts'
import type { BlockPosition } from './window.ts'

/** A file that a node wrote during one hour of its clock. `open` returns the decompressed content. */
export interface HourlyFile {
  readonly path: string
  readonly fromMs: number
  readonly open: () => AsyncIterable<Uint8Array>
}

export class StreamReader {
  readonly #files: HourlyFile[]
  #lines: AsyncGenerator<string> | null = null
  /** The last line read, which may be above the last requested height. */
  #line: { readonly height: number; readonly text: string } | null = null
  /** Hours of the file being read, and of the file of the line before. Null: something before the last line is missing. */
  #hourMs = 0
  #hourBeforeMs: number | null = null
  /** Why a file could not be read; returned once. */
  #fault: string | null = null

  /** `files`: in the order of their hours. */
  constructor(files: readonly HourlyFile[]) {
    this.#files = [...files]
  }

  /** The events of a block; null if they are unknown. */
  async eventsAt({ height, time }: BlockPosition): Promise<readonly unknown[] | null> {
    while (this.#line === null || this.#line.height < height) {
      if (this.#line !== null) this.#hourBeforeMs = this.#hourMs
      const line = await this.#next(time)
      if (line === null) return null
      this.#line = line
    }
    if (this.#line.height !== height) return this.#isContinuous ? [] : null
    const events = readEvents(this.#line.text)
    return events.ok ? events.value : null
  }

  /** Whether no file between the last line and the one before is missing. */
  get #isContinuous(): boolean {
    return this.#hourBeforeMs !== null && this.#hourMs - this.#hourBeforeMs <= HOUR_MS
  }

  takeFault(): string | null {
    const fault = this.#fault
    this.#fault = null
    return fault
  }

  async #next(time: number): Promise<{ readonly height: number; readonly text: string } | null> {
    for (;;) {
      this.#lines ??= this.#open(time)
      if (this.#lines === null) return null
      const { value, done } = await this.#lines.next()
      if (done) this.#lines = null
      else {
        const head = readLineHead(value)
        if (head) return head
        this.#hourBeforeMs = null
      }
    }
  }

  /** Opens the next file that can have a block of this time. */
  #open(time: number): AsyncGenerator<string> | null {
    for (let file = this.#files.shift(); file; file = this.#files.shift()) {
      if (file.fromMs + HOUR_MS >= time) {
        this.#hourMs = file.fromMs
        return this.#read(file)
      }
      this.#hourBeforeMs = file.fromMs
    }
    return null
  }

  async *#read(file: HourlyFile): AsyncGenerator<string> {
    try {
      for await (const { text } of textLines(file.open(), LINE_CHARS)) yield text
    } catch (error) {
      this.#fault = `${file.path} ${fileFaultText(error as NodeError)}`
      this.#hourBeforeMs = null
    }
  }
}
