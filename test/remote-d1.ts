// D1's HTTP API with the worst possible statement splitter: input is cut at every `;` and the pieces run on SQLite
// atomically. `migrations apply --remote` posts a whole file as one text, and the server splits it.

import { DatabaseSync } from 'node:sqlite'

export class RemoteD1 {
  readonly #database = new DatabaseSync(':memory:')

  /** Rows of each statement. Throws SQLite's message without applying anything. */
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
