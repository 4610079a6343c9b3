// Reads one stream line by line, starting at a height, across hourly files and without end. An incomplete line waits
// for its rest. A file is read to its end before the next file is opened. At most one chunk and one line are in memory.

import { readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { parseJson } from '../core/json.ts'
import { type HourlyFile, type LineHead, type StreamFiles, statOf } from './stream-files.node.ts'
import { LINE_BEGIN, readLineHead, type StreamLine } from './streams.ts'

const CHUNK_BYTES = 512 * 1024
const LINE_MAX_BYTES = 256 * 1024 * 1024
/** A longer line is passed to `shorten`, if the stream has one. */
const LONG_LINE_BYTES = 512 * 1024
/** How often to search for the next file at the end of a file. */
const CHECK_MS = 50
/** A file that grew within this time is not finished. Blocks come every 70 ms. */
const NEXT_BLOCK_MS = 100
/** More than a clock that is set back can reach. */
const LEFT_FILES_MAX = 4
/** How long to wait for the rest of a partial last line in an old file. */
const PARTIAL_LINE_MS = 2_000
/** A later file is found within this time after the end of a file. */
const NEXT_FILE_MS = 250
const LINE_FEED = 10

export class StreamTail {
  readonly #files: StreamFiles
  readonly #log: (message: string) => void
  readonly #shorten: ((bytes: Uint8Array[]) => Promise<string>) | null
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  #file: HourlyFile | null = null
  #handle: FileHandle | null = null
  /** Files that were left, by rank: how far each was read, and where its last complete line ended. */
  readonly #leftFiles = new Map<number, { readonly file: HourlyFile; readonly read: number; readonly whole: number }>()
  #inode = 0
  #offset = 0
  #partial: Uint8Array[] = []
  #partialBytes = 0
  #isSkipping = false
  /** A long line being shortened. */
  #shortening: { done: boolean; text: string | null } | null = null
  readonly #from: number
  #last: LineHead | null = null
  #hasArrived = false
  /** True if the last read found bytes, even without a complete line. */
  progressed = false
  #checkedAt = 0
  /** When bytes were last found. */
  #progressedAt = 0
  /** Last time that the end was reached and no later file was found; null once bytes were found again. */
  #exhaustedAt: number | null = null
  /** When a newer file was first seen while this one had a partial line. */
  #sealedAt: number | null = null

  /**
   * Reads lines starting at height `from`. `log` is called with a message for each skipped line. `shorten` returns a
   * short string that is equivalent to a long line.
   */
  constructor(
    files: StreamFiles,
    from: number,
    log: (message: string) => void,
    shorten: ((bytes: Uint8Array[]) => Promise<string>) | null = null,
  ) {
    this.#files = files
    this.#from = from
    this.#log = log
    this.#shorten = shorten
  }

  /** The lines completed by this read: up to half a megabyte plus one line, possibly none. */
  async read(nowMs: number): Promise<StreamLine[]> {
    this.progressed = false
    if (this.#shortening) return this.#takeShortened(this.#shortening)
    if (!this.#handle && !(await this.#start(nowMs))) return []
    const bytesRead = this.#readChunk()
    if (bytesRead > 0) {
      this.#sealedAt = null
      return this.#advance(bytesRead, nowMs)
    }
    if (nowMs - this.#checkedAt < CHECK_MS || nowMs - this.#progressedAt < NEXT_BLOCK_MS) return []
    this.#checkedAt = nowMs
    return await this.#atEnd(nowMs)
  }

  get isShortening(): boolean {
    return this.#shortening !== null
  }

  /** Rank of the current file; -1 before the first. */
  get order(): number {
    return this.#file?.order ?? -1
  }

  /**
   * Last time at which certainly nothing was left to read. Null if something may be left, because the last read found
   * bytes or a line is partial. `order`: rank of the file that other streams have reached. The end of an older file
   * does not count, because a later file may follow.
   */
  endedAt(order: number, nowMs: number): number | null {
    if (this.progressed || this.#shortening || (this.#partialBytes > 0 && nowMs - this.#progressedAt < PARTIAL_LINE_MS))
      return null
    return this.order >= order ? nowMs : this.#exhaustedAt
  }

  /**
   * As endedAt, for a stream that nobody waits for: a partial line, or a file that has stopped growing, counts as read
   * to its end. Null only while more can be read at once, or while the next file is being opened.
   */
  idleAt(order: number, nowMs: number): number | null {
    if (this.progressed) return null
    const hasNoNext = this.#exhaustedAt !== null || nowMs - this.#progressedAt > NEXT_FILE_MS
    return this.order >= order || hasNoNext ? nowMs : null
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
  }

  async #start(nowMs: number): Promise<boolean> {
    if (nowMs - this.#checkedAt < CHECK_MS) return false
    this.#checkedAt = nowMs
    const start = await this.#files.find(this.#from)
    if (!start) {
      this.#exhaustedAt = nowMs
      return false
    }
    return await this.#open(start.file, start.offset)
  }

  async #open(file: HourlyFile, offset: number): Promise<boolean> {
    const handle = await open(this.#files.path(file)).catch(() => null)
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
    // The file's content has not been read yet.
    this.progressed = true
    return true
  }

  /** Returns the number of bytes in the chunk. */
  #readChunk(): number {
    return this.#handle === null ? 0 : readSync(this.#handle.fd, this.#chunk, 0, CHUNK_BYTES, this.#offset)
  }

  /** Call at the end of the file. The file may have been replaced, or another file may follow. */
  async #atEnd(nowMs: number): Promise<StreamLine[]> {
    const file = this.#file
    if (!file) return []
    const now = statOf(this.#files.path(file))
    if (now && (now.ino !== this.#inode || now.size < this.#offset)) {
      const offset = this.#last && (await this.#files.offsetAfter(file, this.#last))
      if (offset === null) this.#log(`${file.date}/${file.hour} was rewritten: reading it from the start`)
      await this.#open(file, offset ?? 0)
      // All lines of a new file count, even lower heights: the node may have started over.
      this.#hasArrived ||= offset === null
      return []
    }
    const next = this.#files.list(file.date).find(({ order }) => order > file.order)
    if (!next) {
      const before = this.#grownBefore(file)
      if (before) await this.#switchTo(before)
      else this.#exhaustedAt = nowMs
      return []
    }
    // The node may have completed this file between the last read and the listing.
    const bytesRead = this.#readChunk()
    if (bytesRead > 0) return this.#advance(bytesRead, nowMs)
    if (this.#partialBytes > 0) {
      this.#sealedAt ??= nowMs
      if (nowMs - this.#sealedAt < PARTIAL_LINE_MS) return []
    }
    const rest = this.#closePartial(file)
    await this.#switchTo(next)
    return rest
  }

  /** The file that was left for this one, if it has grown. This happens when the node's clock was set back to its hour. */
  #grownBefore({ order }: HourlyFile): HourlyFile | null {
    const left = this.#leftFiles.get(Math.max(...[...this.#leftFiles.keys()].filter((rank) => rank < order)))
    const size = left && statOf(this.#files.path(left.file))?.size
    return left !== undefined && size !== undefined && size > left.read ? left.file : null
  }

  async #switchTo(next: HourlyFile): Promise<void> {
    const file = this.#file
    const read = { read: this.#offset, whole: this.#offset - this.#partialBytes }
    const isOpen = await this.#open(next, this.#leftFiles.get(next.order)?.whole ?? 0)
    if (!isOpen || !file) return
    this.#leftFiles.set(file.order, { file, ...read })
    if (this.#leftFiles.size > LEFT_FILES_MAX) this.#leftFiles.delete(Math.min(...this.#leftFiles.keys()))
  }

  /** The last line of a finished file may lack its line feed; one that is not JSON was cut off by a crash. */
  #closePartial(file: HourlyFile): StreamLine[] {
    if (this.#partialBytes === 0) return []
    const text = Buffer.concat(this.#partial).toString('utf8')
    const line = readLineHead(text)
    if (parseJson(text) !== undefined) return line ? [line] : []
    const which = line ? ` of height ${line.height}` : ''
    this.#log(`${file.date}/${file.hour} ends with a partial line${which}, which is skipped`)
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
        // The bytes after the long line are read again later.
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
    else if (text) this.#log(`skipping a line without height and time: ${text.slice(0, 80)}`)
  }

  /** Skips lines below the first wanted height, because the search may start before it. */
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
      .catch((error: Error) => this.#log(`skipping a long line: ${error.message}`))
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

  /**
   * A node that was killed leaves a partial line and continues after it, so the complete line starts at the last
   * LINE_BEGIN.
   */
  #wholeLine(text: string | null): string | null {
    const begin = text?.lastIndexOf(LINE_BEGIN) ?? 0
    if (text === null || begin <= 0) return text
    this.#log(`skipping a partial line: ${text.slice(0, 80)}`)
    return text.slice(begin)
  }

  #retain(rest: Buffer): void {
    if (rest.length === 0 || this.#isSkipping) return
    // A copy, because the bytes may be transferred to a thread.
    this.#partial.push(new Uint8Array(rest))
    this.#partialBytes += rest.length
    if (this.#partialBytes <= LINE_MAX_BYTES) return
    this.#log('skipping a line longer than 256 MiB')
    this.#partial = []
    this.#partialBytes = 0
    this.#isSkipping = true
  }
}
