// HISTORY and ARCHIVE inside the isolate, for tests with tens of thousands of reads and writes. D1 is replaced with
// an object's SQLite, and R2 with a map. files.worker.test.ts checks the same behavior on the platform's own stores.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { ArchiveStorage } from '../../../src/archive/archive/archive-writer.store.ts'
import { sha256Of } from '../../../src/archive/archive/gzip-lines.client.ts'

type Row = Record<string, SqlStorageValue>
interface Rows {
  readonly results: readonly Row[]
  readonly meta: { readonly rows_read: number }
}

class Statement {
  readonly #db: QuickD1
  readonly #sql: string
  readonly #values: readonly unknown[]

  constructor(db: QuickD1, sql: string, values: readonly unknown[] = []) {
    this.#db = db
    this.#sql = sql
    this.#values = values
  }

  bind(...values: readonly unknown[]): Statement {
    return new Statement(this.#db, this.#sql, values)
  }

  in({ sql }: DurableObjectStorage): Rows {
    const cursor = sql.exec<Row>(this.#sql, ...this.#values)
    return { results: cursor.toArray(), meta: { rows_read: cursor.rowsRead } }
  }

  all(): Promise<Rows> {
    return this.#db.inside((storage) => this.in(storage))
  }

  run(): Promise<Rows> {
    return this.all()
  }

  async first(column?: string): Promise<unknown> {
    const row = (await this.all()).results[0] ?? null
    return column === undefined ? row : (row?.[column] ?? null)
  }
}

class QuickD1 {
  /** An object that stores nothing of its own. */
  readonly #object = env.COMPACTOR.getByName(crypto.randomUUID())

  prepare(sql: string): Statement {
    return new Statement(this, sql)
  }

  batch(statements: readonly Statement[]): Promise<Rows[]> {
    return this.inside((storage) => storage.transactionSync(() => statements.map((one) => one.in(storage))))
  }

  inside<T>(work: (storage: DurableObjectStorage) => T): Promise<T> {
    return runInDurableObject(this.#object, (_, { storage }) => work(storage))
  }
}

class QuickR2 {
  readonly #objects = new Map<string, { etag: string; bytes: Uint8Array<ArrayBuffer> }>()

  async put(key: string, body: BodyInit): Promise<{ etag: string }> {
    const bytes = new Uint8Array(await new Response(body).arrayBuffer())
    const etag = await sha256Of(bytes)
    this.#objects.set(key, { etag, bytes })
    return { etag }
  }

  async get(
    key: string,
    { range, onlyIf }: { range?: { offset: number; length: number }; onlyIf?: R2Conditional } = {},
  ) {
    const found = this.#objects.get(key)
    if (!found) return null
    const { etag, bytes } = found
    if (onlyIf && onlyIf.etagMatches !== etag) return { etag }
    const part = range ? bytes.slice(range.offset, range.offset + range.length) : bytes.slice()
    return { etag, body: part, arrayBuffer: async () => part.buffer }
  }

  async head(key: string) {
    return this.#objects.get(key) ?? null
  }

  async delete(keys: string | readonly string[]): Promise<void> {
    for (const key of typeof keys === 'string' ? [keys] : keys) this.#objects.delete(key)
  }

  async list({ prefix }: { prefix: string }) {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort()
    return { objects: keys.map((key) => ({ key })) }
  }
}

type Migrations = readonly { readonly queries: readonly string[] }[]

/** Empty ones, with the tables of HISTORY. */
export async function quickStores() {
  const db = new QuickD1()
  const { HISTORY } = (env as unknown as { MIGRATIONS: { HISTORY: Migrations } }).MIGRATIONS
  for (const { queries } of HISTORY) await db.batch(queries.map((sql) => db.prepare(sql)))
  const history = db as unknown as D1Database
  const archive = new QuickR2() as unknown as R2Bucket
  return { history, archive, placeOf: (chain: string): ArchiveStorage => ({ chain, bucket: archive, db: history }) }
}
