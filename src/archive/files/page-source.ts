// Reads the pages of a file from a given position, object by object. Invariant: a missing, short or altered object
// causes an ArchiveDamage error.

import { ArchiveDamage, orDamage } from '../archive/archive-read.ts'
import { decodePage, type Page, pageBytes } from './page.ts'

export interface PagePosition {
  readonly object: number
  readonly offset: number
}

export interface SourceFile {
  readonly objects: readonly SourceObject[]
}

interface SourceObject {
  readonly key: string
  readonly bytes: number
  /** Returns exactly `length` bytes or throws. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>
}

export class PageSource {
  readonly #file: SourceFile
  readonly #readBytes: number
  #object: number
  #offset: number
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #page: Page | null = null

  /** `stretch`: bytes per read. A longer page is read whole. */
  constructor(file: SourceFile, { object, offset }: PagePosition, stretch: number) {
    this.#file = file
    this.#readBytes = stretch
    this.#object = object
    this.#offset = offset
  }

  get position(): PagePosition {
    return { object: this.#object, offset: this.#offset }
  }

  /** The next page; null at the end of the file. */
  async peek(): Promise<Page | null> {
    if (this.#page) return this.#page
    const object = this.#file.objects[this.#object]
    if (object === undefined) return null
    if (this.#offset >= object.bytes) {
      this.#object++
      this.#offset = 0
      this.#buffer = new Uint8Array(0)
      return this.peek()
    }
    while (!this.#hasPage()) await this.#read(object)
    this.#page = await this.orDamage(() => decodePage(this.#buffer, 0))
    return this.#page
  }

  /** Moves past the current page. */
  take(): void {
    if (!this.#page) return
    this.#offset += this.#page.bytes
    this.#buffer = this.#buffer.subarray(this.#page.bytes)
    this.#page = null
  }

  /** Processes the current page. A failure is reported as damage of the page's object. */
  orDamage<T>(work: () => T | Promise<T>): Promise<T> {
    return orDamage(this.#key(), work)
  }

  #key(): string {
    return this.#file.objects[this.#object]?.key ?? ''
  }

  #hasPage(): boolean {
    const length = pageBytes(this.#buffer, 0)
    return length !== null && length <= this.#buffer.length
  }

  async #read(object: SourceObject): Promise<void> {
    const at = this.#offset + this.#buffer.length
    const needed = Math.max(this.#readBytes, (pageBytes(this.#buffer, 0) ?? 0) - this.#buffer.length)
    const length = Math.min(needed, object.bytes - at)
    if (length <= 0) throw new ArchiveDamage(this.#key(), 'altered')
    const more = await object.read(at, length)
    const all = new Uint8Array(this.#buffer.length + more.length)
    all.set(this.#buffer)
    all.set(more, this.#buffer.length)
    this.#buffer = all
  }
}
