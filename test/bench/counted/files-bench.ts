// What the bench of files and its Worker tell each other. Types alone.

/** A minute of fills to be archived. */
export interface FilesInvention {
  readonly segment: number
  /** Since 1970. */
  readonly minute: number
  readonly fills: number
  readonly users: number
  readonly heavy: string
  readonly quiet: string
  readonly isQuietThere: boolean
  readonly builder: string
}

export interface FilesRead {
  /** To D1, and rows that it read for them. */
  readonly questions: number
  readonly rowsRead: number
  /** From R2. */
  readonly gets: number
  readonly bytes: number
  readonly rows: number
}
