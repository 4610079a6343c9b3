// Writes the positions after each file of a day: pages for readers, and a table. Invariants: a turn depends only on
// stored state and writes a part at once; a snapshot without all archived fills is replaced.

import type { Coin } from '../../core/coin.ts'
import { ArchiveDamage } from '../archive/archive-read.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import { lowestUnfiled } from '../archive/unfiled.store.ts'
import { NO_POSITION, type PositionChange, positionAfter } from '../positions.ts'
import { POSITION_TABLE_COLUMNS, positionCells } from './columns.ts'
import { positionsKey } from './file-keys.ts'
import { type FileSpan, KEY_TABLES } from './levels.ts'
import { packPage } from './page-text.client.ts'
import { concatPages, type IndexEntry, PageWriter } from './page-writer.ts'
import { coinOfDigest, DIGEST_KEYS, digestKey, linesOfChanges, positionKey } from './position-lines.ts'
import { positionsAt } from './positions.store.ts'
import type { Table } from './table.ts'
import { Parquet } from './tables.client.ts'

/** A part ends after the coin that reaches one of these, so that a turn is short and a table is small. */
const PART_ROWS = 32_768
const PART_COINS = 32

interface Day extends FileSpan {
  /** The last coin that is written; empty: none. */
  readonly coin: string
  readonly parts: number
}

export interface PositionPorts {
  readonly partRows?: number
  putTable(file: FileSpan, number: number, table: Table): Promise<D1PreparedStatement>
}

/** Writes the next part. Returns false if there is none. */
export async function writePositions(storage: ArchiveStorage, ports: PositionPorts): Promise<boolean> {
  const { chain, db, bucket } = storage
  const day = await dueDay(storage)
  if (!day) return false
  const part = await partAfter(storage, day, ports.partRows ?? PART_ROWS).catch(async (error: unknown) => {
    // The day is written again once its damaged file is. Until then, readers use the snapshot before it.
    if (error instanceof ArchiveDamage) await dayRow(storage, day, day.parts, true).run()
    throw error
  })
  const rows: D1PreparedStatement[] = []
  if (part.coins.length > 0) {
    const { pages, bytes, entries } = part.writer
    const { etag } = await bucket.put(positionsKey(chain, day, day.parts), concatPages(pages, bytes), {})
    const places = JSON.stringify(part.coins.map((coin) => [coin, ...placeOf(entries, positionKey(coin))]))
    const insert = `INSERT OR REPLACE INTO position_snapshots (chain, height, number, etag, coin, offset, bytes)
      SELECT ?1, ?2, ?3, ?4, value->>0, value->>1, value->>2 FROM json_each(?5) WHERE TRUE`
    rows.push(db.prepare(insert).bind(chain, day.last, day.parts, etag, places))
  }
  const { table } = part
  if (table.rows > 0) {
    const made = { name: 'positions-by-coin', rows: table.rows, bytes: table.finish() } as const
    rows.push(await ports.putTable(day, day.parts, made))
  }
  const written = { ...day, coin: part.coins.at(-1) ?? day.coin }
  const parts = day.parts + (part.coins.length > 0 ? 1 : 0)
  await db.batch([...rows, dayRow(storage, written, parts, part.isEnd)])
  return true
}

function dayRow({ chain, db }: ArchiveStorage, day: Day, parts: number, isDone: boolean): D1PreparedStatement {
  const { first, last, firstMs, lastMs, coin } = day
  return db
    .prepare(`INSERT OR REPLACE INTO position_days (chain, last, first, first_ms, last_ms, coin, parts, done)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
    .bind(chain, last, first, firstMs, lastMs, coin, parts, isDone ? 1 : 0)
}

/** Whether the positions after every file of a day are written. Months wait for them. */
export async function hasAllPositions(storage: ArchiveStorage): Promise<boolean> {
  return (await nextDay(storage)) === null
}

/** The positions from a height on are written again: fills of this height were missing. */
export function outdatedPositions({ chain, db }: ArchiveStorage, from: number): D1PreparedStatement[] {
  return [
    `DELETE FROM position_snapshots WHERE chain = ? AND height >= ?`,
    `DELETE FROM file_tables WHERE chain = ? AND name = 'positions-by-coin' AND last >= ?`,
    `UPDATE position_days SET coin = '', parts = 0, done = 0 WHERE chain = ? AND last >= ?`,
  ].map((sql) => db.prepare(sql).bind(chain, from))
}

/**
 * Removes the positions of the oldest day that the archive no longer needs: one remains below its first block, because
 * later positions are computed from it.
 */
export async function sweepPositions({ chain, db, bucket }: ArchiveStorage): Promise<void> {
  const below = `SELECT MAX(last) FROM position_days WHERE chain = ?1 AND done = 1
    AND last < (SELECT MIN(first) FROM segments WHERE chain = ?1)`
  const day = await db
    .prepare(`SELECT first, last, first_ms AS firstMs, last_ms AS lastMs, parts FROM position_days
      WHERE chain = ?1 AND last < (${below}) ORDER BY last LIMIT 1`)
    .bind(chain)
    .first<Omit<Day, 'coin'>>()
  if (!day) return
  await bucket.delete(Array.from({ length: day.parts }, (_, number) => positionsKey(chain, day, number)))
  await db.batch([
    db.prepare(`DELETE FROM position_snapshots WHERE chain = ? AND height = ?`).bind(chain, day.last),
    db.prepare(`DELETE FROM position_days WHERE chain = ? AND last = ?`).bind(chain, day.last),
  ])
}

/** The first day whose positions are not written, if all archived blocks up to its end are in files. */
async function dueDay(storage: ArchiveStorage): Promise<Day | null> {
  const day = await nextDay(storage)
  const unfiled = day && (await lowestUnfiled(storage))
  return unfiled && unfiled.next <= day.last ? null : day
}

async function nextDay({ chain, db }: ArchiveStorage): Promise<Day | null> {
  const columns = `first, last, first_ms AS firstMs, last_ms AS lastMs`
  return db
    .prepare(`SELECT * FROM (SELECT ${columns}, coin, parts FROM position_days WHERE chain = ?1 AND done = 0
      UNION ALL SELECT ${columns}, '' AS coin, 0 AS parts FROM files f WHERE chain = ?1 AND level = 2 AND state = 'live'
      AND NOT EXISTS (SELECT 1 FROM position_days d WHERE d.chain = f.chain AND d.last = f.last))
      ORDER BY last LIMIT 1`)
    .bind(chain)
    .first<Day>()
}

/** The next coins of a day, and their positions. */
async function partAfter(storage: ArchiveStorage, day: Day, maxRows: number) {
  const writer = new PageWriter(packPage)
  const table = new Parquet(POSITION_TABLE_COLUMNS)
  const coins: Coin[] = []
  let coin = await coinAfter(storage, day.coin)
  while (coin !== null && table.rows < maxRows && coins.length < PART_COINS) {
    const open = await openPositions(storage, coin, day.last)
    for (const line of linesOfChanges(open)) await writer.add(positionKey(coin), line)
    for (const [user, change] of [...open].sort(([a], [b]) => (a < b ? -1 : 1)))
      table.add(positionCells(coin, user, change))
    coins.push(coin)
    coin = await coinAfter(storage, coin)
  }
  await writer.flush()
  return { writer, table, coins, isEnd: coin === null }
}

async function openPositions(storage: ArchiveStorage, coin: Coin, height: number) {
  const fold = await positionsAt(storage, coin, height, Number.POSITIVE_INFINITY)
  const open = new Map<string, PositionChange>()
  for (const [user, change] of fold?.byUser ?? []) if (change.szi !== NO_POSITION) open.set(user, positionAfter(change))
  return open
}

/** The next coin that any file or snapshot has; null at the end. */
async function coinAfter({ chain, db }: ArchiveStorage, coin: Coin): Promise<Coin | null> {
  const keys = Object.values(KEY_TABLES).map(
    (table) => `SELECT * FROM (SELECT key FROM ${table} WHERE chain = ?1 AND key > ?2 AND key < '${DIGEST_KEYS.before}'
      ORDER BY key LIMIT 1)`,
  )
  const known = `SELECT * FROM (SELECT '${DIGEST_KEYS.after}' || coin FROM position_snapshots WHERE chain = ?1 AND coin > ?3
    ORDER BY coin LIMIT 1)`
  const row = await db
    .prepare(`SELECT MIN(key) AS key FROM (${[...keys, known].join(' UNION ALL ')})`)
    .bind(chain, digestKey(coin), coin)
    .first<{ key: string | null }>()
  return row?.key ? coinOfDigest(row.key) : null
}

/** Offset and bytes of a key's pages. */
function placeOf(entries: readonly IndexEntry[], key: string): [offset: number, bytes: number] {
  const own = entries.filter((entry) => entry.key === key)
  return [own[0]?.offset ?? 0, own.reduce((sum, { bytes }) => sum + bytes, 0)]
}
