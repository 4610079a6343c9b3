// Checkpoints on disk: the newest and the one before it, each written beside and renamed into place.
// A file that cannot be used is named in one sentence and otherwise as good as absent.

import { createReadStream } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place } from './book-keeper.ts'
import { CheckpointReader, decodeCheckpointHead } from './checkpoint.ts'
import type { OrderBooks } from './order-books.ts'

const NEWEST = 'books.checkpoint'
const PREVIOUS = 'books.previous.checkpoint'
const WRITE_UNITS = 1024 * 1024

export interface StoredCheckpoint extends Place {
  readonly path: string
}

export class CheckpointFiles {
  readonly #folder: string
  readonly #chain: string
  readonly #say: (sentence: string) => void

  constructor(folder: string, chain: string, say: (sentence: string) => void) {
    this.#folder = folder
    this.#chain = chain
    this.#say = say
  }

  /** Writes the lines as the newest checkpoint; what was newest becomes the previous one. Throws if it cannot. */
  async write(lines: readonly string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const path = join(this.#folder, `${NEWEST}.${process.pid}.part`)
    const file = await open(path, 'w')
    try {
      let piece = ''
      for (const line of lines) {
        piece += `${line}\n`
        if (piece.length < WRITE_UNITS) continue
        await file.write(piece)
        piece = ''
      }
      await file.write(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(join(this.#folder, NEWEST), join(this.#folder, PREVIOUS)).catch(() => {})
    await rename(path, join(this.#folder, NEWEST))
  }

  /** Places of the checkpoints of this chain. */
  async list(): Promise<StoredCheckpoint[]> {
    const found: StoredCheckpoint[] = []
    for (const name of [NEWEST, PREVIOUS]) {
      const path = join(this.#folder, name)
      const head = await this.#head(path)
      if (head) found.push({ ...head, path })
    }
    return found
  }

  /** Books of a checkpoint, null where the file turns out to be unusable: it is then put aside. */
  async load({ path }: StoredCheckpoint): Promise<OrderBooks | null> {
    const reader = new CheckpointReader()
    try {
      let first = true
      for await (const line of linesOf(path)) {
        if (!first) reader.push(line)
        first = false
      }
      if (!reader.done) throw new Error('it is cut off')
      return reader.books
    } catch (error) {
      this.#say(`the checkpoint ${path} is ignored: ${reason(error)}`)
      await rename(path, `${path}.unusable`).catch(() => {})
      return null
    }
  }

  async #head(path: string): Promise<Place | null> {
    try {
      for await (const line of linesOf(path)) {
        const { chain, height, time } = decodeCheckpointHead(line)
        if (chain === this.#chain) return { height, time }
        throw new Error(`it belongs to the chain ${chain}`)
      }
      throw new Error('it is empty')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#say(`the checkpoint ${path} is ignored: ${reason(error)}`)
      return null
    }
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  let half = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: WRITE_UNITS })) {
    const lines = (half + chunk).split('\n')
    half = lines.pop()!
    yield* lines
  }
  if (half !== '') yield half
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.split('\n')[0]! : String(error)
}
