// How objects of the archive go. Law: rows go first and name what is about to go in the same step; so wherever a removal
// breaks off, no row is without its object, and no object is forgotten.

import { checkpointKey, type LineKind, segmentKey } from './archive-keys.ts'
import type { ArchivePlace } from './archive-writer.store.ts'
import type { Freed } from './retention.ts'

/** Of either kind the bytes; 0: removed before. */
export interface SegmentRow {
  readonly first: number
  readonly last: number
  readonly firstMs: number
  readonly lastMs: number
  readonly events: number
  readonly books: number
}

export interface CheckpointRow {
  readonly height: number
  readonly time: number
  readonly bytes: number
}

export interface Removed {
  readonly events: readonly SegmentRow[]
  readonly books: readonly SegmentRow[]
  readonly checkpoints: readonly CheckpointRow[]
}

export class Removals {
  readonly #place: ArchivePlace

  constructor(place: ArchivePlace) {
    this.#place = place
  }

  /** Ends what broke off, so much of it; answers how many objects that were. */
  async finish(most: number): Promise<number> {
    const { results } = await this.#place.db
      .prepare(`SELECT key FROM removals WHERE chain = ? ORDER BY key LIMIT ?`)
      .bind(this.#place.chain, most)
      .all<{ key: string }>()
    await this.#drop(results.map(({ key }) => key))
    return results.length
  }

  async remove({ events, books, checkpoints }: Removed): Promise<Freed> {
    const { chain } = this.#place
    const keys = [
      ...events.map((row) => segmentKey(chain, row, 'events')),
      ...books.map((row) => segmentKey(chain, row, 'books')),
      ...checkpoints.map(({ height }) => checkpointKey(chain, height)),
    ]
    if (keys.length === 0) return { objects: 0, segments: 0, bytes: 0 }
    const firsts = (rows: readonly SegmentRow[]) => rows.map(({ first }) => first)
    const results = await this.#place.db.batch([
      this.#each(`INSERT OR IGNORE INTO removals (chain, key) SELECT ?1, value FROM json_each(?2)`, keys),
      this.#each(emptied('events'), firsts(events)),
      this.#each(emptied('books'), firsts(books)),
      this.#each(
        `DELETE FROM segments WHERE chain = ?1 AND first IN (SELECT value FROM json_each(?2))
          AND events_bytes = 0 AND books_bytes = 0`,
        firsts([...events, ...books]),
      ),
      this.#each(
        `DELETE FROM checkpoints WHERE chain = ?1 AND height IN (SELECT value FROM json_each(?2))`,
        checkpoints.map(({ height }) => height),
      ),
    ])
    await this.#drop(keys)
    const bytes = [...events.map((row) => row.events), ...books.map((row) => row.books)]
    const all = [...bytes, ...checkpoints.map((row) => row.bytes)].reduce((sum, one) => sum + one, 0)
    return { objects: keys.length, segments: results[3]!.meta.changes, bytes: all }
  }

  async #drop(keys: string[]): Promise<void> {
    if (keys.length === 0) return
    await this.#place.bucket.delete(keys)
    await this.#each(`DELETE FROM removals WHERE chain = ?1 AND key IN (SELECT value FROM json_each(?2))`, keys).run()
  }

  #each(sql: string, values: readonly (string | number)[]): D1PreparedStatement {
    return this.#place.db.prepare(sql).bind(this.#place.chain, JSON.stringify(values))
  }
}

const emptied = (kind: LineKind): string =>
  `UPDATE segments SET ${kind}_bytes = 0, ${kind}_sha256 = '' WHERE chain = ?1 AND first IN (SELECT value FROM json_each(?2))`
