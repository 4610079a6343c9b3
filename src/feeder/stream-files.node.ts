// The hourly files of one stream, and searches by height within them. Polls are synchronous: through the thread pool, each
// call costs ten times as much.

import { readdirSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { readLineHead, type StreamLine } from './streams.ts'

/** Bytes read at the start of a line, which contain its height and time. A whole line can have 20 MB. */
const HEAD_BYTES = 1024
const STEP_BYTES = 256 * 1024
const LINE_FEED = 10

export type LineHead = Omit<StreamLine, 'text'>

export class StreamFiles {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /** True if the node writes this stream. */
  exists(): boolean {
    return isFolder(this.#root)
  }

  /** Path of a file from list(). */
  path(file: HourlyFile): string {
    return join(this.#base(), file.date, file.hour)
  }

  /** All files of this date and later ones, oldest first. */
  list(from = ''): HourlyFile[] {
    const base = this.#base()
    const files: HourlyFile[] = []
    for (const date of names(base)) {
      if (!/^\d{8}$/.test(date) || date < from) continue
      for (const hour of names(join(base, date))) {
        const file = hourlyFile(date, hour)
        if (file) files.push(file)
      }
    }
    return files.sort((a, b) => a.order - b.order)
  }

  /** The first line of the stream; null if there is none. */
  async first(): Promise<LineHead | null> {
    for (const file of this.list()) {
      const head = await this.#withFile(file, (handle) => lineHeadAt(handle, 0))
      if (head) return head
    }
    return null
  }

  /** The last complete line of the stream; null if there is none. */
  async last(): Promise<LineHead | null> {
    for (const file of this.list().reverse()) {
      const head = await this.#withFile(file, lastLineHead)
      if (head) return head
    }
    return null
  }

  /**
   * Finds where to start reading for `height`: the start of a line at most 256 KiB before the first line of this or a
   * later height.
   */
  async find(height: number): Promise<{ file: HourlyFile; offset: number } | null> {
    const files = this.list()
    for (const file of files.toReversed()) {
      const offset = await this.#withFile(file, async (handle) => {
        const head = await lineHeadAt(handle, 0)
        return head && head.height <= height ? searchHeight(handle, height) : null
      })
      if (offset !== null) return { file, offset }
    }
    return files[0] ? { file: files[0], offset: 0 } : null
  }

  /** The line of exactly this height; null if there is none. */
  async headOf(height: number): Promise<LineHead | null> {
    const start = await this.find(height)
    if (!start) return null
    return await this.#withFile(start.file, async (handle) => {
      for await (const { head } of headsFrom(handle, start.offset))
        if (head.height >= height) return head.height === height ? head : null
      return null
    })
  }

  /** Offset after a line in a file; null if the file has no such line. */
  async offsetAfter(file: HourlyFile, { height, time }: LineHead): Promise<number | null> {
    return await this.#withFile(file, async (handle) => {
      let after: number | null = null
      for await (const { offset, head } of headsFrom(handle, await searchHeight(handle, height))) {
        if (head.height > height) break
        if (head.height === height && head.time === time) after = await nextLine(handle, offset)
      }
      return after
    })
  }

  #base(): string {
    const hourly = join(this.#root, 'hourly')
    return isFolder(hourly) ? hourly : this.#root
  }

  async #withFile<T>(file: HourlyFile, use: (handle: FileHandle) => Promise<T | null>): Promise<T | null> {
    // A file may be pruned after the listing.
    const handle = await open(this.path(file)).catch(() => null)
    if (!handle) return null
    try {
      return await use(handle)
    } finally {
      await handle.close()
    }
  }
}

/** Length and inode of a file; null if it cannot be read. */
export function statOf(path: string): { readonly size: number; readonly ino: number } | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

async function readAt(handle: FileHandle, offset: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes)
  const { bytesRead } = await handle.read(buffer, 0, bytes, offset)
  return buffer.subarray(0, bytesRead)
}

async function lineHeadAt(handle: FileHandle, offset: number): Promise<LineHead | null> {
  const bytes = await readAt(handle, offset, HEAD_BYTES)
  const end = bytes.indexOf(LINE_FEED)
  const line = readLineHead((end < 0 ? bytes : bytes.subarray(0, end)).toString('utf8'))
  return line && { height: line.height, time: line.time }
}

async function* headsFrom(handle: FileHandle, from: number): AsyncGenerator<{ offset: number; head: LineHead }, void> {
  for (let offset: number | null = from; offset !== null; offset = await nextLine(handle, offset)) {
    const head = await lineHeadAt(handle, offset)
    if (!head) return
    yield { offset, head }
  }
}

/** Offset after the first line feed at or after `offset`; null if none follows. */
async function nextLine(handle: FileHandle, offset: number): Promise<number | null> {
  for (let at = offset; ; ) {
    const bytes = await readAt(handle, at, STEP_BYTES)
    if (bytes.length === 0) return null
    const end = bytes.indexOf(LINE_FEED)
    if (end >= 0) return at + end + 1
    at += bytes.length
  }
}

/** Binary search over offsets, which works because heights rise within a file. */
async function searchHeight(handle: FileHandle, height: number): Promise<number> {
  let low = 0
  let high = (await handle.stat()).size
  while (high - low > STEP_BYTES) {
    const middle = Math.floor((low + high) / 2)
    const start = await nextLine(handle, middle)
    const head = start === null || start >= high ? null : await lineHeadAt(handle, start)
    if (start !== null && head && head.height < height) low = start
    else high = middle
  }
  return low
}

/** Offsets of line feeds, last first. */
async function* lineFeeds(handle: FileHandle): AsyncGenerator<number> {
  for (let high = (await handle.stat()).size; high > 0; ) {
    const low = Math.max(0, high - STEP_BYTES)
    const bytes = await readAt(handle, low, high - low)
    for (let end = bytes.length; end > 0; ) {
      end = bytes.subarray(0, end).lastIndexOf(LINE_FEED)
      if (end >= 0) yield low + end
    }
    high = low
  }
}

async function lastLineHead(handle: FileHandle): Promise<LineHead | null> {
  let isWhole = false
  for await (const at of lineFeeds(handle)) {
    if (isWhole) return await lineHeadAt(handle, at + 1)
    isWhole = true
  }
  return isWhole ? await lineHeadAt(handle, 0) : null
}

/** An hourly file: its folder, its name, and a number by which files are sorted by time. */
export interface HourlyFile {
  readonly date: string
  readonly hour: string
  readonly order: number
}

/** The file with these folder and file names; null if they do not fit the hourly layout. */
function hourlyFile(date: string, hour: string): HourlyFile | null {
  if (!/^\d{8}$/.test(date) || !/^\d{1,2}$/.test(hour)) return null
  return { date, hour, order: Number(date) * 100 + Number(hour) }
}
