// Append-only lines in hourly files `<dir>/hourly/{YYYYMMDD}/{H}`, like the node's. Each line is one write, so that a
// reader sees complete lines and a kill leaves at most one partial line. Hours and bytes are limited. To trim a file,
// its end is copied to a new file, a piece with each line written, and the copy is then renamed.

import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS } from '../../core/time.ts'

const NS_PER_HOUR = 3_600_000_000_000n
const CHUNK_BYTES = 64 * 1024
/** Bytes copied with each line while a file is trimmed. */
const COPY_BYTES = 8 * 1024 * 1024
/** Bytes copied at once. */
const PIECE_BYTES = 4 * 1024 * 1024
const LINE_FEED = 10

/** Hour since 1970 (UTC) of a time in nanoseconds. */
const hourOf = (timeNs: bigint) => Number(timeNs / NS_PER_HOUR)

/** Folder `YYYYMMDD`, and the hour without leading zero. */
function nameOf(hour: number): [date: string, hour: string] {
  return [new Date(hour * HOUR_MS).toISOString().slice(0, 10).replaceAll('-', ''), String(hour % 24)]
}

/**
 * Bytes to keep at the end of each file, oldest file first, as in `sizes`. While the total is within `maxBytes`,
 * everything is kept; otherwise, half of `maxBytes`, so that trimming is rare.
 */
export function retainedBytes(sizes: readonly number[], maxBytes: number): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let room = total > maxBytes ? Math.floor(maxBytes / 2) : total
  return sizes
    .toReversed()
    .map((size) => {
      const kept = Math.min(size, room)
      room -= kept
      return kept
    })
    .reverse()
}

export class HourlyFile {
  readonly #root: string
  readonly #keepHours: number
  readonly #keepBytes: number
  #hour = -1
  #path = ''
  #fd = -1
  /** Total size of the files. */
  #bytes: number
  #copy: TailCopy | null = null

  /**
   * `keepHours`: files older than this are deleted when a new hour starts, but never the current file. `keepBytes`:
   * maximum total size, exceeded only by lines that are written while a file is trimmed.
   */
  constructor(dir: string, keepHours: number, keepBytes: number) {
    this.#root = join(dir, 'hourly')
    this.#keepHours = keepHours
    this.#keepBytes = keepBytes
    mkdirSync(this.#root, { recursive: true })
    this.#bytes = this.#measure()
  }

  /** Appends one line (without line feed) to the file of its hour. Throws if the disk cannot be written to. */
  append(line: string, timeNs: bigint): void {
    const hour = hourOf(timeNs)
    if (hour !== this.#hour) this.#open(hour)
    const bytes = Buffer.from(`${line}\n`)
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done)
    this.#bytes += bytes.length
    if (this.#bytes > this.#keepBytes && this.#copy === null) this.#cut(this.#keepBytes)
    if (this.#copy?.step(COPY_BYTES)) this.#endCut()
  }

  /** Deletes the older half of the lines, whatever their size. */
  rotate(): void {
    if (this.#fd >= 0 && this.#copy === null) this.#cut(this.#bytes - 1)
  }

  close(): void {
    this.#copy?.close()
    this.#copy = null
    if (this.#fd >= 0) closeSync(this.#fd)
    this.#fd = -1
    this.#hour = -1
  }

  #open(hour: number): void {
    this.close()
    const [date, name] = nameOf(hour)
    mkdirSync(join(this.#root, date), { recursive: true })
    this.#path = join(this.#root, date, name)
    this.#fd = openSync(this.#path, 'a')
    this.#hour = hour
    this.#prune(hour)
    this.#bytes = this.#measure()
  }

  #measure(): number {
    return this.files().reduce((sum, { path }) => sum + statSync(path).size, 0)
  }

  /** Deletes old files, and starts to trim the file of which only a part is kept. */
  #cut(keepBytes: number): void {
    const files = this.files().map(({ path }) => ({ path, size: statSync(path).size }))
    const sizes = files.map(({ size }) => size)
    for (const [i, kept] of retainedBytes(sizes, keepBytes).entries()) {
      const { path, size } = files[i]!
      if (kept === 0) rmSync(path)
      else if (kept < size) this.#copy = new TailCopy(path, size - kept, `${this.#root}.next`)
    }
    this.#bytes = this.#measure()
  }

  #endCut(): void {
    const isCurrent = this.#copy!.path === this.#path
    this.#copy = null
    if (isCurrent) {
      closeSync(this.#fd)
      this.#fd = openSync(this.#path, 'a')
    }
    this.#bytes = this.#measure()
  }

  #prune(current: number): void {
    for (const { path, hour } of this.files()) if (hour <= current - this.#keepHours) rmSync(path)
    const today = nameOf(current)[0]
    for (const date of readdirSync(this.#root))
      if (date !== today && readdirSync(join(this.#root, date)).length === 0) rmdirSync(join(this.#root, date))
  }

  /** The existing hourly files, oldest first. */
  files(): { path: string; hour: number }[] {
    const found: { path: string; hour: number }[] = []
    for (const date of readdirSync(this.#root)) {
      if (!/^\d{8}$/.test(date)) continue
      const day = Date.parse(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T00:00:00Z`) / HOUR_MS
      for (const name of readdirSync(join(this.#root, date)))
        if (/^\d{1,2}$/.test(name)) found.push({ path: join(this.#root, date, name), hour: day + Number(name) })
    }
    return found.sort((a, b) => a.hour - b.hour)
  }

  /** Truncates the partial last line of every file, which a kill may have left. */
  truncatePartialLines(): void {
    for (const { path } of this.files()) {
      const whole = wholeBytes(path)
      if (whole < statSync(path).size) truncateSync(path, whole)
    }
  }

  /** Complete lines of all files, last line first. */
  *linesBackward(): Generator<string> {
    for (const { path } of this.files().reverse()) yield* fileLinesBackward(path)
  }
}

/** Chunks of a file with their offsets, last chunk first. */
function* chunksBackward(path: string): Generator<{ readonly start: number; readonly chunk: Buffer }> {
  const fd = openSync(path, 'r')
  try {
    for (let end = statSync(path).size; end > 0; ) {
      const start = Math.max(0, end - CHUNK_BYTES)
      const chunk = Buffer.alloc(end - start)
      readSync(fd, chunk, 0, chunk.length, start)
      yield { start, chunk }
      end = start
    }
  } finally {
    closeSync(fd)
  }
}

/** Number of bytes up to and including the last line feed. */
function wholeBytes(path: string): number {
  for (const { start, chunk } of chunksBackward(path)) {
    const at = chunk.lastIndexOf(LINE_FEED)
    if (at >= 0) return start + at + 1
  }
  return 0
}

function* fileLinesBackward(path: string): Generator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for (const { chunk } of chunksBackward(path)) {
    rest = Buffer.concat([chunk, rest])
    for (let at = lastBreak(rest); at >= 0; at = lastBreak(rest)) {
      const line = rest.toString('utf8', at + 1).trimEnd()
      rest = rest.subarray(0, at + 1)
      if (line !== '') yield line
    }
  }
  if (rest.length > 0) yield rest.toString().trimEnd()
}

/** Position of the line feed before the last line. A line feed at the very end belongs to the last line. */
function lastBreak(text: Buffer): number {
  return text.length < 2 ? -1 : text.lastIndexOf(LINE_FEED, text.length - 2)
}

/**
 * Copies the end of a file to a new file, which then replaces it. Readers that have the old file open can still finish
 * it. The copy is made in steps, because a stream of a large exchange has hundreds of megabytes.
 */
class TailCopy {
  readonly path: string
  readonly #target: string
  readonly #from: number
  readonly #to: number
  readonly #chunk = Buffer.alloc(PIECE_BYTES)
  #at: number
  #isBetween = false

  /** Copies the complete lines after `offset`. */
  constructor(path: string, offset: number, target: string) {
    this.path = path
    this.#target = target
    this.#from = openSync(path, 'r')
    this.#to = openSync(target, 'w')
    this.#at = offset
  }

  /** Copies about `bytes`. Returns true once the copy is complete and has replaced the file. */
  step(bytes: number): boolean {
    for (let done = 0; done < bytes; ) {
      const read = readSync(this.#from, this.#chunk, 0, PIECE_BYTES, this.#at)
      if (read === 0) {
        this.close()
        renameSync(this.#target, this.path)
        return true
      }
      const begin = this.#isBetween ? 0 : this.#chunk.subarray(0, read).indexOf(LINE_FEED) + 1
      this.#isBetween ||= begin > 0
      if (this.#isBetween) writeSync(this.#to, this.#chunk, begin, read - begin)
      this.#at += read
      done += read
    }
    return false
  }

  /** Closes the files, and abandons an unfinished copy. */
  close(): void {
    closeSync(this.#from)
    closeSync(this.#to)
  }
}
