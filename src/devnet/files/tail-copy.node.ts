// The end of a file beside it, and then in its place: whoever reads the file finishes the old one. It is copied in
// steps, because a stream of a large exchange has hundreds of megabytes.

import { closeSync, openSync, readSync, renameSync, writeSync } from 'node:fs'

const COPY_BYTES = 4 * 1024 * 1024
const LINE_FEED = 10

export class TailCopy {
  readonly path: string
  readonly #beside: string
  readonly #from: number
  readonly #to: number
  readonly #chunk = Buffer.alloc(COPY_BYTES)
  #at: number
  #isBetween = false

  /** Of the whole lines behind `offset`. */
  constructor(path: string, offset: number, beside: string) {
    this.path = path
    this.#beside = beside
    this.#from = openSync(path, 'r')
    this.#to = openSync(beside, 'w')
    this.#at = offset
  }

  /** Copies about as many bytes as said; true once the copy has the place of the file, up to its very end. */
  step(bytes: number): boolean {
    for (let done = 0; done < bytes; ) {
      const read = readSync(this.#from, this.#chunk, 0, COPY_BYTES, this.#at)
      if (read === 0) {
        this.close()
        renameSync(this.#beside, this.path)
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

  /** Gives up where it is not done. */
  close(): void {
    closeSync(this.#from)
    closeSync(this.#to)
  }
}
