// Reads the node's signed actions: `replica_cmds/{start}/{date}/{height}`, one line per block, without an envelope. A file
// is named after its first height. A restarted node begins a new folder `{start}` and may write heights again.

import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ReplicaLine, ReplicaLineSplitter } from './replica-lines.ts'
import { REPLICA_FOLDER } from './streams.ts'

const CHUNK_BYTES = 1024 * 1024
/** How often to look for the next file at the end of a file. */
const CHECK_MS = 250
/** Nothing more is read while this many characters wait for their blocks. */
const WAITING_MAX_UNITS = 8 * 1024 * 1024
/** A block takes lines up to this many characters. The next blocks take the others. */
const BLOCK_MAX_UNITS = 2 * 1024 * 1024

/** A file, in the order in which the node writes them. */
interface ReplicaFile {
  readonly start: string
  readonly date: string
  readonly height: number
}

const isLater = (one: ReplicaFile, other: ReplicaFile) =>
  one.start === other.start ? one.height > other.height : one.start > other.start

export class ReplicaTail {
  readonly #root: string
  readonly #from: number
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  #file: ReplicaFile | null = null
  #handle: FileHandle | null = null
  #offset = 0
  #splitter = new ReplicaLineSplitter(0, 0)
  #waiting: ReplicaLine[] = []
  #waitingUnits = 0
  #checkedAt = Number.NEGATIVE_INFINITY
  /** First height that was not read yet. */
  #next: number

  /** `root`: the folder `replica_cmds`. `from`: first height to return. */
  constructor(root: string, from: number) {
    this.#root = root
    this.#from = from
    this.#next = from
  }

  /** Reads at most a megabyte. Returns true if there was something to read. */
  async pump(nowMs: number): Promise<boolean> {
    if (this.#waitingUnits > WAITING_MAX_UNITS) return false
    if (await this.#readChunk()) return true
    if (nowMs - this.#checkedAt < CHECK_MS) return false
    this.#checkedAt = nowMs
    const next = await this.#nextFile()
    // The node may have completed this file between the last read and the listing.
    if (next === null || (await this.#readChunk())) return next !== null
    return await this.#open(next)
  }

  /** The lines up to a height, oldest first. If there are very many, the later ones stay for the next call. */
  take(height: number): ReplicaLine[] {
    let units = 0
    let count = 0
    for (const line of this.#waiting) {
      if (line.height > height || units > BLOCK_MAX_UNITS) break
      units += unitsOf(line)
      count++
    }
    this.#waitingUnits -= units
    return this.#waiting.splice(0, count)
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
  }

  async #readChunk(): Promise<boolean> {
    const found = await this.#handle?.read(this.#chunk, 0, CHUNK_BYTES, this.#offset)
    const bytesRead = found?.bytesRead ?? 0
    this.#offset += bytesRead
    for (const line of this.#splitter.push(this.#chunk.subarray(0, bytesRead))) {
      this.#waiting.push(line)
      this.#waitingUnits += unitsOf(line)
      this.#next = line.height + 1
    }
    return bytesRead > 0
  }

  async #open(file: ReplicaFile): Promise<boolean> {
    const { start, date, height } = file
    // A file may be deleted after the listing.
    const handle = await open(join(this.#root, start, date, String(height))).catch(() => null)
    if (!handle) return false
    await this.#handle?.close()
    this.#handle = handle
    this.#file = file
    this.#offset = 0
    // An incomplete last line of the previous file was cut off by a crash of the node, which writes its height again.
    this.#splitter = new ReplicaLineSplitter(height, Math.max(this.#from, this.#next))
    return true
  }

  /**
   * The first file: the newest one that starts at or below the next height, or the oldest. Later: the file that follows
   * the current one. In a newer folder, files that end below the next height are skipped.
   */
  async #nextFile(): Promise<ReplicaFile | null> {
    const current = this.#file
    const files = (await replicaFiles(this.#root, current?.start ?? '')).filter(
      (file) => current === null || isLater(file, current),
    )
    const start = current === null ? files.findLast(({ height }) => height <= this.#next)?.start : files[0]?.start
    const inFolder = files.filter((file) => file.start === (start ?? files[0]?.start))
    if (current !== null && start === current.start) return inFolder[0] ?? null
    return inFolder.findLast(({ height }) => height <= this.#next) ?? inFolder[0] ?? null
  }
}

/** All files of this folder `{start}` and of newer ones, oldest first. */
async function replicaFiles(root: string, from: string): Promise<ReplicaFile[]> {
  const files: ReplicaFile[] = []
  for (const start of await names(root)) {
    if (start < from) continue
    for (const date of await names(join(root, start)))
      for (const name of await names(join(root, start, date)))
        if (/^\d{1,15}$/.test(name)) files.push({ start, date, height: Number(name) })
  }
  return files.sort((one, other) => (isLater(one, other) ? 1 : -1))
}

/** First height of the newest file, and when it was last written, Unix ms; null if there is no file. */
export async function newestReplicaFile(root: string): Promise<{ height: number; writtenMs: number } | null> {
  const newest = (await replicaFiles(root, '')).at(-1)
  if (!newest) return null
  const { start, date, height } = newest
  const written = await stat(join(root, start, date, String(height))).catch(() => null)
  return written && { height, writtenMs: written.mtimeMs }
}

const unitsOf = ({ text }: ReplicaLine): number => text?.length ?? 0

async function names(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}

/** The signed actions that the feeder reads: only while the gateway wants them, and from the next block onward. */
export class ReplicaStream {
  readonly #root: string
  readonly #log: (message: string) => void
  #tail: ReplicaTail | null = null
  #isMissing = false

  constructor(dataDir: string, log: (message: string) => void) {
    this.#root = join(dataDir, REPLICA_FOLDER)
    this.#log = log
  }

  /** Starts or stops reading. `height`: the last block. Call about once a second. */
  async follow(isWanted: boolean, height: number): Promise<void> {
    if (!isWanted) await this.close()
    if (!isWanted || this.#tail) return
    const exists = (await stat(this.#root).catch(() => null))?.isDirectory() ?? false
    if (exists) this.#tail = new ReplicaTail(this.#root, height + 1)
    else if (!this.#isMissing)
      this.#log('the gateway wants signed actions, but the node writes none. Run it with --replica-cmds-style')
    this.#isMissing = !exists
  }

  /** Returns true if there was something to read. */
  async pump(nowMs: number): Promise<boolean> {
    return (await this.#tail?.pump(nowMs)) ?? false
  }

  /** The lines for the block of this height; null while nothing is read. */
  take(height: number): ReplicaLine[] | null {
    return this.#tail?.take(height) ?? null
  }

  /** Stops reading. follow() starts again. */
  async close(): Promise<void> {
    const tail = this.#tail
    this.#tail = null
    await tail?.close()
  }
}
