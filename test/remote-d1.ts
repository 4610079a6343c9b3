// D1's HTTP API as the worst splitter would have it: what it is sent is cut at every `;`, wherever that stands, and the
// pieces run on SQLite, all or none. `migrations apply --remote` posts a whole file as one text, and the server splits it.

import { DatabaseSync } from 'node:sqlite'

export class RemoteD1 {
  readonly #database = new DatabaseSync(':memory:')

  /** The rows of each statement. Throws in SQLite's words, with nothing applied. */
  query(sql: string): Record<string, unknown>[][] {
    const pieces = sql.split(';').filter((piece) => piece.replace(/--.*/g, '').trim() !== '')
    this.#database.exec('BEGIN')
    try {
      const rows = pieces.map((piece) => this.#database.prepare(piece).all())
      this.#database.exec('COMMIT')
      return rows
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }
}
