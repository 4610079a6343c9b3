// The pages of a file, one object after the other, a stretch at a time, from a page on that was reached before.

import { decodePage, type Page, pageBytes } from './page.ts'

/** The next page of a file. */
export interface Place {
  readonly object: number
  readonly offset: number
}

export interface SourceFile {
  /** Bytes of its objects. */
  readonly objects: readonly number[]
  /** Exactly so many bytes, or it throws. */
  read(object: number, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>
}

export class PageSource {
  readonly #file: SourceFile
  readonly #stretch: number
  #object: number
  #offset: number
  #held: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #page: Page | null = null

  /** `stretch`: bytes that are read at once where no page is longer. */
  constructor(file: SourceFile, { object, offset }: Place, stretch: number) {
    this.#file = file
    this.#stretch = stretch
    this.#object = object
    this.#offset = offset
  }

  get place(): Place {
    return { object: this.#object, offset: this.#offset }
  }

  /** The next page, null behind the last. */
  async peek(): Promise<Page | null> {
    if (this.#page) return this.#page
    const size = this.#file.objects[this.#object]
    if (size === undefined) return null
    if (this.#offset >= size) {
      this.#object++
      this.#offset = 0
      this.#held = new Uint8Array(0)
      return this.peek()
    }
    while (!this.#isHeld()) await this.#read(size)
    this.#page = decodePage(this.#held, 0)
    return this.#page
  }

  /** Goes on behind the page that was last peeked at. */
  take(): void {
    if (!this.#page) return
    this.#offset += this.#page.bytes
    this.#held = this.#held.subarray(this.#page.bytes)
    this.#page = null
  }

  #isHeld(): boolean {
    const length = pageBytes(this.#held, 0)
    return length !== null && length <= this.#held.length
  }

  async #read(size: number): Promise<void> {
    const at = this.#offset + this.#held.length
    const wanted = Math.max(this.#stretch, (pageBytes(this.#held, 0) ?? 0) - this.#held.length)
    const length = Math.min(wanted, size - at)
    if (length <= 0) throw new Error(`object ${this.#object} ends amid a page`)
    const more = await this.#file.read(this.#object, at, length)
    const all = new Uint8Array(this.#held.length + more.length)
    all.set(this.#held)
    all.set(more, this.#held.length)
    this.#held = all
  }
}
