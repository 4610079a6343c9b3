// The payments of a segment that were read last: of an hour they are ten megabytes, which many ask for in its first minutes.

export class ReadPayments {
  #first = -1
  #lines: readonly string[] = []

  /** Of each block of the segment that begins with `first`; `text`: how to read them. */
  of(first: number, text: () => string): readonly string[] {
    if (this.#first !== first) this.#lines = text().split('\n')
    this.#first = first
    return this.#lines
  }

  /** Segments below `first` are held no more; null: none is. */
  forget(first: number | null): void {
    if (first !== null && this.#first >= first) return
    this.#first = -1
    this.#lines = []
  }
}
