// Storage of a Sink: the record, the delivery state, recent log lines, and metrics per minute. Invariants: growing data
// is bounded; text of any size is stored in chunks.

import * as z from 'zod'
import { fromChunks, toChunks } from '../../core/chunks.ts'
import { migrate } from '../../core/migrate.store.ts'
import { rows } from '../../core/rows.ts'
import type { StoredPipeline } from '../pipeline.ts'
import type { SinkLogLine, SinkMinute } from '../sink-api.ts'
import { type Bill, type DeliveryState, MAX_MESSAGE_CHARS } from './delivery-state.ts'

const MAX_LOG_LINES = 500
/** Two days. */
const MAX_MINUTES = 2_880

const TABLES = `
  CREATE TABLE log (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, level TEXT NOT NULL, words TEXT NOT NULL,
    batch TEXT) STRICT;
  CREATE TABLE minutes (
    minute INTEGER PRIMARY KEY, rows INTEGER NOT NULL, bytes INTEGER NOT NULL, batches INTEGER NOT NULL,
    failures INTEGER NOT NULL, lag INTEGER) STRICT;`

const LogRow = z.object({
  id: z.number(),
  atMs: z.number(),
  level: z.enum(['info', 'warn', 'error']),
  words: z.string(),
  batch: z.string().nullable(),
})

const MinuteRow = z.object({
  minuteMs: z.number(),
  rows: z.number(),
  bytes: z.number(),
  batches: z.number(),
  failures: z.number(),
  lagMs: z.number().nullable(),
})

type StoredState = DeliveryState & { readonly minute: SinkMinute }

/** Keys of the fold at the cursor or a repair, and of the fold with which the cursor continues after the repair. */
const FOLDS = ['fold', 'resume'] as const
type FoldKey = (typeof FOLDS)[number]

function withFolds(state: DeliveryState, foldOf: (key: FoldKey) => string | null): DeliveryState {
  const { at, repair } = state
  return {
    ...state,
    at: at && { ...at, fold: foldOf('fold') },
    ...(repair && { repair: { ...repair, resume: { ...repair.resume, fold: foldOf('resume') } } }),
  }
}

/** Amounts added to the metrics of a minute. */
export type MetricDelta = Partial<Pick<SinkMinute, 'rows' | 'bytes' | 'batches' | 'failures'>>

const emptyMinute = (minuteMs: number): SinkMinute => ({
  minuteMs,
  rows: 0,
  bytes: 0,
  batches: 0,
  failures: 0,
  lagMs: null,
})

export class SinkStore {
  readonly #storage: DurableObjectStorage
  /** The current minute, which is stored with the state. It becomes a row when the next one begins. */
  #minute: SinkMinute
  /** The stored texts by key. */
  readonly #folds = new Map<FoldKey, string | null>()

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    migrate(storage, [TABLES])
    for (const key of FOLDS) this.#folds.set(key, this.#text(key))
    this.#minute = storage.kv.get<StoredState>('state')?.minute ?? emptyMinute(0)
  }

  get pipeline(): StoredPipeline | null {
    const text = this.#text('pipeline')
    return text === null ? null : (JSON.parse(text) as StoredPipeline)
  }

  set pipeline(pipeline: StoredPipeline) {
    this.#putText('pipeline', JSON.stringify(pipeline))
  }

  /** Id of the deleted pipeline; null: not deleted. */
  get dropped(): string | null {
    return this.#storage.kv.get<string>('dropped') ?? null
  }

  /** Deletes everything except the deletion mark and unreported bills. */
  drop(id: string, bills: readonly Bill[]): void {
    this.#storage.transactionSync(() => {
      for (const [key] of [...this.#storage.kv.list()]) this.#storage.kv.delete(key)
      this.#storage.sql.exec(`DROP TABLE IF EXISTS log; DROP TABLE IF EXISTS minutes; ${TABLES}`)
      this.#storage.kv.put('dropped', id)
      this.bills = bills
    })
    this.#folds.clear()
    this.#minute = emptyMinute(0)
  }

  /** Unreported bills of a deleted pipeline, in order. */
  get bills(): readonly Bill[] {
    return this.#storage.kv.get<readonly Bill[]>('bills') ?? []
  }

  set bills(bills: readonly Bill[]) {
    if (bills.length === 0) this.#storage.kv.delete('bills')
    else this.#storage.kv.put('bills', bills)
  }

  get state(): DeliveryState | null {
    const stored = this.#storage.kv.get<StoredState>('state')
    if (!stored) return null
    const { minute: _, ...state } = stored
    return withFolds(state, (key) => this.#folds.get(key) ?? null)
  }

  /** Folds are stored separately: they may be large, and few topics have one. */
  set state(state: DeliveryState) {
    const folds = { fold: state.at?.fold ?? null, resume: state.repair?.resume.fold ?? null }
    this.#storage.transactionSync(() => {
      const minute = this.#minute
      this.#storage.kv.put('state', { ...withFolds(state, () => null), minute } satisfies StoredState)
      for (const key of FOLDS) if (folds[key] !== (this.#folds.get(key) ?? null)) this.#putText(key, folds[key])
    })
    for (const key of FOLDS) this.#folds.set(key, folds[key])
  }

  log(atMs: number, level: SinkLogLine['level'], words: string, batch: string | null): void {
    const { sql } = this.#storage
    sql.exec('INSERT INTO log VALUES (NULL, ?, ?, ?, ?)', atMs, level, words.slice(0, MAX_MESSAGE_CHARS), batch)
    sql.exec('DELETE FROM log WHERE id <= (SELECT max(id) FROM log) - ?', MAX_LOG_LINES)
  }

  /** Newest first. */
  lines(before: number | null, limit: number): SinkLogLine[] {
    const select = 'SELECT id, at AS atMs, level, words, batch FROM log WHERE id < ? ORDER BY id DESC LIMIT ?'
    return rows(LogRow, this.#storage.sql.exec(select, before ?? Number.MAX_SAFE_INTEGER, limit))
  }

  /** Takes effect when the state is stored next. */
  count(nowMs: number, { rows = 0, bytes = 0, batches = 0, failures = 0 }: MetricDelta, lagMs: number | null): void {
    const minuteMs = Math.floor(nowMs / 60_000) * 60_000
    if (minuteMs !== this.#minute.minuteMs) this.#storeMinute()
    const before = minuteMs === this.#minute.minuteMs ? this.#minute : emptyMinute(minuteMs)
    this.#minute = {
      minuteMs,
      rows: before.rows + rows,
      bytes: before.bytes + bytes,
      batches: before.batches + batches,
      failures: before.failures + failures,
      lagMs,
    }
  }

  #storeMinute(): void {
    const { minuteMs, rows, bytes, batches, failures, lagMs } = this.#minute
    if (minuteMs === 0) return
    this.#storage.sql.exec(
      'INSERT OR REPLACE INTO minutes VALUES (?, ?, ?, ?, ?, ?)',
      ...[minuteMs, rows, bytes, batches, failures, lagMs],
    )
    this.#storage.sql.exec('DELETE FROM minutes WHERE minute <= ?', minuteMs - MAX_MINUTES * 60_000)
  }

  /** Oldest first. */
  minutes(sinceMs: number): SinkMinute[] {
    const select = `SELECT minute AS minuteMs, rows, bytes, batches, failures, lag AS lagMs FROM minutes WHERE minute > ?
      AND minute <> ? ORDER BY minute`
    const stored = rows(MinuteRow, this.#storage.sql.exec(select, sinceMs, this.#minute.minuteMs))
    return this.#minute.minuteMs > sinceMs ? [...stored, this.#minute] : stored
  }

  #text(key: string): string | null {
    const count = this.#storage.kv.get<number>(key)
    if (count === undefined) return null
    // biome-ignore lint/style/noNonNullAssertion: where one of the pieces is missing, this throws
    return fromChunks(Array.from({ length: count }, (_, at) => this.#storage.kv.get<Uint8Array>(`${key}/${at}`)!))
  }

  #putText(key: string, text: string | null): void {
    const { kv } = this.#storage
    const before = kv.get<number>(key) ?? 0
    const pieces = text === null ? [] : toChunks(text)
    for (const [at, piece] of pieces.entries()) kv.put(`${key}/${at}`, piece)
    for (let at = pieces.length; at < before; at++) kv.delete(`${key}/${at}`)
    if (text === null) kv.delete(key)
    else kv.put(key, pieces.length)
  }
}
