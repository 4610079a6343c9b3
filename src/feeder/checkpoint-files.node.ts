// Checkpoint files: the newest and the previous one. Each is written under a temporary name and then renamed, so that
// one complete file always exists. An unusable file is reported and treated as missing.

import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CheckpointPass, CheckpointReader, decodeCheckpointEnd, decodeCheckpointHead } from './checkpoint.ts'
import type { BlockPosition, OrderBookProjector } from './order-book-projector.ts'
import { removeOrphans } from './orphans.node.ts'

const NEWEST = 'books.checkpoint'
const PREVIOUS = 'books.previous.checkpoint'
/** Name of an unfinished file, with the ID of the process that writes it. */
const PART = /^books\.checkpoint\.(\d+)\.part$/
/** Bytes read at once. They contain one or two thousand orders. */
const READ_BYTES = 64 * 1024
/** Upper bound on the length of the closing line. */
const END_BYTES = 256

/**
 * A complete checkpoint. Its position is the block after which the last coin was copied; `from` is that of the first
 * coin.
 */
export interface StoredCheckpoint extends BlockPosition {
  readonly path: string
  readonly from: BlockPosition
}

/** A checkpoint being written. */
export interface CheckpointDraft {
  write(lines: readonly string[]): Promise<void>
  /**
   * Makes the draft durable on disk and publishes it as the newest file. The old newest file becomes the previous one.
   */
  publish(): Promise<void>
  drop(): Promise<void>
}

export class CheckpointFiles {
  readonly #folder: string
  readonly #chain: string
  readonly #log: (message: string) => void

  constructor(folder: string, chain: string, log: (message: string) => void) {
    this.#folder = folder
    this.#chain = chain
    this.#log = log
  }

  /** Throws if the disk cannot be written to. The draft's methods do the same. */
  async draft(): Promise<CheckpointDraft> {
    await mkdir(this.#folder, { recursive: true })
    await removeOrphans(this.#folder, PART)
    const path = join(this.#folder, `${NEWEST}.${process.pid}.part`)
    const file = await open(path, 'w')
    return {
      write: async (lines) => {
        // Writes everything or throws. A plain write to a full disk may write only a part and report no error.
        await file.appendFile(lines.map((line) => `${line}\n`).join(''))
      },
      publish: async () => {
        await file.sync()
        await file.close()
        await rename(join(this.#folder, NEWEST), join(this.#folder, PREVIOUS)).catch(() => {})
        await rename(path, join(this.#folder, NEWEST))
      },
      drop: async () => {
        await file.close().catch(() => {})
        await rm(path, { force: true })
      },
    }
  }

  /** Positions of this chain's checkpoints, newest first. */
  async list(): Promise<StoredCheckpoint[]> {
    const found: StoredCheckpoint[] = []
    for (const name of [NEWEST, PREVIOUS]) {
      const stored = await this.#inspect(join(this.#folder, name))
      if (stored) found.push(stored)
    }
    return found
  }

  /** Loads the books of a checkpoint. If the file is unusable, it is renamed, and null is returned. */
  async load({ path }: StoredCheckpoint): Promise<CheckpointReader | null> {
    const reader = new CheckpointReader()
    try {
      let first = true
      for await (const line of linesOf(path)) {
        if (!first) reader.push(line)
        first = false
      }
      if (!reader.isDone) throw new Error('the file is incomplete')
      return reader
    } catch (error) {
      this.#log(`ignoring the checkpoint ${path}: ${reason(error)}`)
      await rename(path, `${path}.unusable`).catch(() => {})
      return null
    }
  }

  async #inspect(path: string): Promise<StoredCheckpoint | null> {
    let file: FileHandle | null = null
    try {
      file = await open(path)
      const { size } = await file.stat()
      const [head = ''] = (await readText(file, 0, Math.min(size, 1_024))).split('\n')
      const { chain, height, time } = decodeCheckpointHead(head)
      if (chain !== this.#chain) throw new Error(`it belongs to chain ${chain}`)
      const from = Math.max(0, size - END_BYTES)
      const lines = (await readText(file, from, size - from)).split('\n')
      const end = decodeCheckpointEnd(lines.pop() === '' ? (lines.pop() ?? '') : '')
      return { path, from: { height, time }, height: end.height, time: end.time }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#log(`ignoring the checkpoint ${path}: ${reason(error)}`)
      return null
    } finally {
      await file?.close()
    }
  }
}

async function readText(file: FileHandle, offset: number, bytes: number): Promise<string> {
  const buffer = Buffer.alloc(bytes)
  const { bytesRead } = await file.read(buffer, 0, bytes, offset)
  return buffer.toString('utf8', 0, bytesRead)
}

async function* linesOf(path: string): AsyncGenerator<string> {
  let half = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: READ_BYTES })) {
    const lines = (half + chunk).split('\n')
    half = lines.pop() ?? ''
    yield* lines
  }
  if (half !== '') yield half
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\n.*/s, '') : String(error)
}

/**
 * Delay before the first checkpoint. It is short, because a restart without a checkpoint forces the gateway to start a
 * new epoch.
 */
const FIRST_AFTER_MS = 2_000

interface CheckpointerHost {
  readonly files: CheckpointFiles
  readonly projector: OrderBookProjector
  readonly chain: string
  readonly everyMs: number
  log(message: string): void
}

/**
 * Writes checkpoints coin by coin between blocks. A checkpoint is published once the block of its last coin is durable,
 * so it is never ahead of the log.
 */
export class Checkpointer {
  readonly #host: CheckpointerHost
  #pass: CheckpointPass | null = null
  #draft: CheckpointDraft | null = null
  /** True if all lines are written but the last block is not yet durable. */
  #isWritten = false
  #nextAt: number | null = null
  #busy: Promise<void> | null = null

  constructor(host: CheckpointerHost) {
    this.#host = host
  }

  /** Takes the next step of the current checkpoint. Call between blocks. */
  tick(nowMs: number, durable: number | null): void {
    this.#nextAt ??= this.#host.projector.books ? nowMs + FIRST_AFTER_MS : null
    if (this.#busy || this.#nextAt === null) return
    if (!this.#pass && nowMs >= this.#nextAt) this.#start(nowMs)
    if (this.#pass) this.#run(this.#step(this.#pass, durable))
  }

  /** Writes a final checkpoint, and publishes it if `isDurable` confirms in time that the log has its last block. */
  async writeLast(nowMs: number, isDurable: (height: number) => Promise<boolean>): Promise<void> {
    await this.#busy
    await this.#discard()
    this.#start(nowMs)
    const pass = this.#pass
    if (!pass) return
    while (!this.#isWritten && this.#pass) {
      this.#run(this.#step(pass, null))
      await this.#busy
    }
    const isOfUse = this.#pass !== null && (await isDurable(pass.height))
    this.#run(isOfUse ? this.#step(pass, pass.height) : this.#discard())
    await this.#busy
  }

  #start(nowMs: number): void {
    const { books, position } = this.#host.projector
    if (!books || !position?.time || !this.#host.projector.isAligned || books.suspects.size > 0) return
    this.#pass = new CheckpointPass(this.#host.chain, position, books)
    this.#nextAt = nowMs + this.#host.everyMs
  }

  async #step(pass: CheckpointPass, durable: number | null): Promise<void> {
    const { books, position } = this.#host.projector
    if (!pass.isOf(books) || !position) return this.#discard()
    if (this.#isWritten) {
      if (durable === null || durable < pass.height) return
      await this.#draft?.publish()
      this.#draft = null
      return this.#discard()
    }
    // The lines are collected now, between two blocks. Writing them may continue during later blocks.
    const lines = pass.step(position)
    if (lines?.length === 0) return
    if (!this.#draft) {
      this.#draft = await this.#host.files.draft()
      await this.#draft.write([pass.head])
    }
    await this.#draft.write(lines ?? [pass.end])
    this.#isWritten = lines === null
  }

  #run(work: Promise<void>): void {
    this.#busy = work
      .catch(async (error: Error) => {
        this.#host.log(`cannot write the checkpoint: ${error.message}`)
        await this.#discard()
      })
      .finally(() => {
        this.#busy = null
      })
  }

  async #discard(): Promise<void> {
    const draft = this.#draft
    this.#draft = null
    this.#pass?.cancel()
    this.#pass = null
    this.#isWritten = false
    await draft?.drop()
  }
}
