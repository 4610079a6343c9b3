// Reads one stream from a height on, line by line, over the hour's end and for ever. A line that is not complete
// waits; a file is read to its end before the next one is opened; memory holds one chunk and one line.

import { type FileHandle, open, stat } from 'node:fs/promises'
import { parseJson } from '../core/json.ts'
import type { HourlyFile, LineHead, StreamFiles } from './stream-files.node.ts'
import { LINE_BEGIN, readLineHead, type StreamLine } from './streams.ts'

const CHUNK_BYTES = 512 * 1024
const LINE_MAX_BYTES = 256 * 1024 * 1024
/** A longer line is shortened elsewhere, where the stream has such. */
const LONG_LINE_BYTES = 512 * 1024
/** How often the end of a file is a reason to look for the next one. */
const CHECK_MS = 50
/** How long a half-written last line of an old file may still be completed. */
const PARTIAL_LINE_MS = 2_000
const LINE_FEED = 10

export class StreamTail {
  readonly #files: StreamFiles
  readonly #log: (sentence: string) => void
  readonly #shorten: ((bytes: Uint8Array[]) => Promise<string>) | null
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  #file: HourlyFile | null = null
  #handle: FileHandle | null = null
  /** By rank, how far files that were left had been read, and where the last whole line ended. */
  readonly #leftFiles = new Map<number, { readonly read: number; readonly whole: number }>()
  #inode = 0
  #offset = 0
  #partial: Uint8Array[] = []
  #partialBytes = 0
  #isSkipping = false
  /** A long line on its way back. */
  #shortening: { done: boolean; text: string | null } | null = null
  readonly #from: number
  #last: LineHead | null = null
  #hasArrived = false
  /** Whether the last read found bytes, also such that complete no line. */
  progressed = false
  #checkedAt = 0
  /** When bytes were last found. */
  #progressedAt = 0
  /** When a look found no file after this one, null where bytes were found since. */
  #exhaustedAt: number | null = null
  /** When a newer file was first seen while this one still had a half line. */
  #sealedAt: number | null = null

  /**
   * Lines from height `from` on. `say` hears of lines that had to be left out. `shorten` answers a short text that says
   * what a long line does.
   */
  constructor(
    files: StreamFiles,
    from: number,
    say: (sentence: string) => void,
    shorten: ((bytes: Uint8Array[]) => Promise<string>) | null = null,
  ) {
    this.#files = files
    this.#from = from
    this.#log = say
    this.#shorten = shorten
  }

  /** The lines that became complete, at most about half a megabyte more than one line; empty where none did. */
  async read(nowMs: number): Promise<StreamLine[]> {
    this.progressed = false
    if (this.#shortening) return this.#takeShortened(this.#shortening)
    if (!this.#handle && !(await this.#start(nowMs))) return []
    const bytesRead = await this.#readChunk()
    if (bytesRead > 0) {
      this.#sealedAt = null
      return this.#advance(bytesRead, nowMs)
    }
    if (nowMs - this.#checkedAt < CHECK_MS) return []
    this.#checkedAt = nowMs
    return await this.#atEnd(nowMs)
  }

  /** Rank of the file that is being read, -1 before the first. */
  get order(): number {
    return this.#file?.order ?? -1
  }

  /**
   * When it was last seen that nothing is left to read, null where something may be: bytes came with the last read, or
   * a line is half written. `order`: rank of the file in which others stand; an older file proves nothing by its end.
   */
  endedAt(order: number, nowMs: number): number | null {
    if (this.progressed || this.#shortening || (this.#partialBytes > 0 && nowMs - this.#progressedAt < PARTIAL_LINE_MS))
      return null
    return this.order >= order ? nowMs : this.#exhaustedAt
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
  }

  async #start(nowMs: number): Promise<boolean> {
    if (nowMs - this.#checkedAt < CHECK_MS) return false
    this.#checkedAt = nowMs
    const place = await this.#files.find(this.#from)
    if (!place) {
      this.#exhaustedAt = nowMs
      return false
    }
    return await this.#open(place.file, place.offset)
  }

  async #open(file: HourlyFile, offset: number): Promise<boolean> {
    const handle = await open(await this.#files.path(file)).catch(() => null)
    if (!handle) return false
    await this.#handle?.close()
    this.#handle = handle
    this.#file = file
    this.#inode = (await handle.stat()).ino
    this.#offset = offset
    this.#partial = []
    this.#partialBytes = 0
    this.#isSkipping = false
    this.#sealedAt = null
    // What stands in it was not read yet.
    this.progressed = true
    return true
  }

  /** Answers how many bytes the chunk has. */
  async #readChunk(): Promise<number> {
    const found = await this.#handle?.read(this.#chunk, 0, CHUNK_BYTES, this.#offset)
    return found?.bytesRead ?? 0
  }

  /** Nothing more in this file for now: another may have taken its place, or come after it. */
  async #atEnd(nowMs: number): Promise<StreamLine[]> {
    const file = this.#file
    if (!file) return []
    const now = await stat(await this.#files.path(file)).catch(() => null)
    if (now && (now.ino !== this.#inode || now.size < this.#offset)) {
      const behind = this.#last && (await this.#files.offsetAfter(file, this.#last))
      if (behind === null) this.#log(`${file.date}/${file.hour} was written anew: reading it from its beginning`)
      await this.#open(file, behind ?? 0)
      // Whatever stands in a new one is told, also lower heights: the node may have started over.
      this.#hasArrived ||= behind === null
      return []
    }
    const files = await this.#files.list()
    const next = files.find(({ order }) => order > file.order)
    if (!next) {
      const before = files.findLast(({ order }) => order < file.order)
      if (before && (await this.#hasGrown(before))) await this.#switchTo(before)
      else this.#exhaustedAt = nowMs
      return []
    }
    // The node may have finished this file between the last read and the listing.
    const bytesRead = await this.#readChunk()
    if (bytesRead > 0) return this.#advance(bytesRead, nowMs)
    if (this.#partialBytes > 0) {
      this.#sealedAt ??= nowMs
      if (nowMs - this.#sealedAt < PARTIAL_LINE_MS) return []
    }
    const rest = this.#closePartial(file)
    await this.#switchTo(next)
    return rest
  }

  /** A node whose clock is set back over the hour's end goes on in the file of the hour before. */
  async #hasGrown(file: HourlyFile): Promise<boolean> {
    const left = this.#leftFiles.get(file.order)
    const size = left && (await stat(await this.#files.path(file)).catch(() => null))?.size
    return left !== undefined && size !== undefined && size > left.read
  }

  async #switchTo(file: HourlyFile): Promise<void> {
    const order = this.#file?.order ?? 0
    const read = { read: this.#offset, whole: this.#offset - this.#partialBytes }
    if (await this.#open(file, this.#leftFiles.get(file.order)?.whole ?? 0)) this.#leftFiles.set(order, read)
  }

  /** The last line of a finished file may lack its line feed; one that is no JSON was cut off by a crash. */
  #closePartial(file: HourlyFile): StreamLine[] {
    if (this.#partialBytes === 0) return []
    const text = Buffer.concat(this.#partial).toString('utf8')
    const line = readLineHead(text)
    if (parseJson(text) !== undefined) return line ? [line] : []
    const which = line ? ` of height ${line.height}` : ''
    this.#log(`${file.date}/${file.hour} ends in a half line${which}: it is left out`)
    return []
  }

  #advance(bytesRead: number, nowMs: number): StreamLine[] {
    this.progressed = true
    this.#progressedAt = nowMs
    this.#exhaustedAt = null
    this.#offset += bytesRead
    return this.#split(this.#chunk.subarray(0, bytesRead))
  }

  #split(bytes: Buffer): StreamLine[] {
    const lines: StreamLine[] = []
    let begin = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, begin)) {
      const last = bytes.subarray(begin, end)
      begin = end + 1
      if (this.#shorten && !this.#isSkipping && this.#partialBytes + last.length > LONG_LINE_BYTES) {
        this.#startShortening(this.#shorten([...this.#partial, new Uint8Array(last)]))
        // What follows is read again behind it.
        this.#offset -= bytes.length - begin
        return this.#fromFirst(lines)
      }
      this.#add(lines, this.#wholeLine(this.#finish(last)))
    }
    this.#retain(bytes.subarray(begin))
    return this.#fromFirst(lines)
  }

  #add(lines: StreamLine[], text: string | null): void {
    const line = text === null || text === '' ? null : readLineHead(text)
    this.#last = line ?? this.#last
    if (line) lines.push(line)
    else if (text) this.#log(`a line without height and time is left out: ${text.slice(0, 80)}`)
  }

  /** Until the first wanted line has come, lower ones are the run-up of a search. */
  #fromFirst(lines: StreamLine[]): StreamLine[] {
    if (this.#hasArrived) return lines
    const first = lines.findIndex(({ height }) => height >= this.#from)
    this.#hasArrived = first >= 0
    return first < 0 ? [] : lines.slice(first)
  }

  #startShortening(short: Promise<string>): void {
    const state: { done: boolean; text: string | null } = { done: false, text: null }
    this.#shortening = state
    this.#partial = []
    this.#partialBytes = 0
    short
      .then((text) => {
        state.text = text
      })
      .catch((error: Error) => this.#log(`a long line is left out: ${error.message}`))
      .finally(() => {
        state.done = true
      })
  }

  #takeShortened(state: { readonly done: boolean; readonly text: string | null }): StreamLine[] {
    if (!state.done) return []
    this.#shortening = null
    this.progressed = true
    const lines: StreamLine[] = []
    this.#add(lines, state.text)
    return this.#fromFirst(lines)
  }

  #finish(last: Buffer): string | null {
    const skipped = this.#isSkipping
    const text =
      this.#partialBytes === 0 ? last.toString('utf8') : Buffer.concat([...this.#partial, last]).toString('utf8')
    this.#partial = []
    this.#partialBytes = 0
    this.#isSkipping = false
    return skipped ? null : text
  }

  /** A node that was killed while it wrote goes on behind the half line: what is whole begins at the last beginning. */
  #wholeLine(text: string | null): string | null {
    const begin = text?.lastIndexOf(LINE_BEGIN) ?? 0
    if (text === null || begin <= 0) return text
    this.#log(`a half line is left out: ${text.slice(0, 80)}`)
    return text.slice(begin)
  }

  #retain(rest: Buffer): void {
    if (rest.length === 0 || this.#isSkipping) return
    // A copy of its own, which may be handed to a thread.
    this.#partial.push(new Uint8Array(rest))
    this.#partialBytes += rest.length
    if (this.#partialBytes <= LINE_MAX_BYTES) return
    this.#log('a line longer than 256 MiB is left out')
    this.#partial = []
    this.#partialBytes = 0
    this.#isSkipping = true
  }
}
