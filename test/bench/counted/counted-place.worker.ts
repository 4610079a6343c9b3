// The bucket and the database of an archive. Their operations are counted.

import type { ArchiveStorage } from '../../../src/archive/archive/archive-writer.store.ts'
import type { Operations } from './files-bench.ts'

type Counts = { -readonly [name in keyof Operations]: number }

export class CountedPlace {
  readonly counts: Counts = {
    questions: 0,
    rowsRead: 0,
    rowsWritten: 0,
    gets: 0,
    bytesRead: 0,
    puts: 0,
    pageBytes: 0,
  }
  /** Of the last file that was written. */
  level: string | null = null
  readonly place: ArchiveStorage

  constructor({ chain, bucket, db }: ArchiveStorage) {
    const { counts } = this
    const get = async (key: string, options: R2GetOptions) => {
      counts.gets++
      counts.bytesRead += (options.range as { length?: number } | undefined)?.length ?? 0
      return bucket.get(key, options)
    }
    const put = async (key: string, bytes: Uint8Array) => {
      counts.puts++
      if (key.endsWith('.pages')) counts.pageBytes += bytes.length
      this.level = key.split('/')[2] ?? null
      return bucket.put(key, bytes)
    }
    const batch = async (statements: D1PreparedStatement[]) => {
      const results = await db.batch(statements)
      counts.questions++
      for (const { meta } of results) {
        counts.rowsRead += meta.rows_read
        counts.rowsWritten += meta.rows_written
      }
      return results
    }
    this.place = {
      chain,
      bucket: { get, put, delete: bucket.delete.bind(bucket) } as ArchiveStorage['bucket'],
      db: { prepare: db.prepare.bind(db), batch } as ArchiveStorage['db'],
    }
  }
}
