// The pages of a file, one object after the other, a stretch at a time, from a page on that was reached before. Law: an object
// that is missing, short or another one is an ArchiveDamage.

import { ArchiveDamage } from '../archive/archive-read.ts'
import { decodePage, type Page, pageBytes } from './page.ts'

export interface Place {
  readonly object: number
  readonly offset: number
}

export interface SourceFile {
  readonly objects: readonly SourceObject[]
}

interface SourceObject {
  readonly key: string
  readonly bytes: number
  /** Exactly so many bytes, or it throws. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>
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
    const object = this.#file.objects[this.#object]
    if (object === undefined) return null
    if (this.#offset >= object.bytes) {
      this.#object++
      this.#offset = 0
      this.#held = new Uint8Array(0)
      return this.peek()
    }
    while (!this.#isHeld()) await this.#read(object)
    this.#page = await this.sound(() => decodePage(this.#held, 0))
    return this.#page
  }

  /** Goes on behind the page that was last peeked at. */
  take(): void {
    if (!this.#page) return
    this.#offset += this.#page.bytes
    this.#held = this.#held.subarray(this.#page.bytes)
    this.#page = null
  }

  /** What is made of the present page; what cannot be made of it is the fault of its object. */
  async sound<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work()
    } catch {
      throw this.#damage()
    }
  }

  #damage(): ArchiveDamage {
    return new ArchiveDamage(this.#file.objects[this.#object]?.key ?? '', 'another one')
  }

  #isHeld(): boolean {
    const length = pageBytes(this.#held, 0)
    return length !== null && length <= this.#held.length
  }

  async #read(object: SourceObject): Promise<void> {
    const at = this.#offset + this.#held.length
    const wanted = Math.max(this.#stretch, (pageBytes(this.#held, 0) ?? 0) - this.#held.length)
    const length = Math.min(wanted, object.bytes - at)
    if (length <= 0) throw this.#damage()
    const more = await object.read(at, length)
    const all = new Uint8Array(this.#held.length + more.length)
    all.set(this.#held)
    all.set(more, this.#held.length)
    this.#held = all
  }
}
