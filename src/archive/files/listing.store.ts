// Locates the rows of a key with one D1 batch, whatever their age. On a day without rows, a key has no entry.

import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import { objectKey } from './file-keys.ts'
import { bucketOf, type FileSpan, KEY_TABLES, type Level } from './levels.ts'
import type { PageSpan } from './page.ts'

/** Maximum page ranges of days and months per query. Recent page ranges are added to them. */
const MAX_DAY_RANGES = 64

/** Consecutive pages of a key within one object. */
export interface PageRange extends PageSpan {
  readonly object: { readonly key: string; readonly etag: string }
  readonly offset: number
  readonly bytes: number
}

export interface RowsQuery {
  readonly key: string
  readonly order: 'newest' | 'oldest'
  /** Block times from and to, inclusive. */
  readonly fromMs: number
  readonly toMs: number
  readonly from: number
  readonly upTo: number
}

interface Row extends Omit<PageSpan, 'first' | 'last'> {
  readonly level: Level
  readonly number: number
  readonly etag: string
  readonly firstHeight: number
  readonly lastHeight: number
  readonly offset: number
  readonly bytes: number
  readonly first: number
  readonly last: number
  readonly firstMs: number
}

const FILE = `f.level, f.first, f.last, f.first_ms AS firstMs, o.number, o.etag`
const OBJECT = `file_objects o ON o.chain = k.chain AND o.level = f.level AND o.first = k.first AND o.number = k.number`
const BUCKET = `SELECT ${FILE}, e.value->>1 AS firstHeight, e.value->>2 AS lastHeight, e.value->>3 AS minMs,
  e.value->>4 AS maxMs, e.value->>5 AS rows, e.value->>6 AS offset, e.value->>7 AS bytes
  FROM file_buckets k JOIN files f ON f.chain = k.chain AND f.level = k.level AND f.first = k.first JOIN ${OBJECT},
  json_each(k.entries) e
  WHERE k.chain = ?1 AND k.level = ?2 AND k.bucket = ?3 AND f.state = 'live' AND e.value->>0 = ?4`
/** Tolerance for decreasing block times. */
const SLACK_MS = 3_600_000
/** Without the height bounds, the query would scan all rows of a key. */
const keyRows = (level: 2 | 3) => `SELECT ${FILE}, k.first_height AS firstHeight, k.last_height AS lastHeight,
  k.min_ms AS minMs, k.max_ms AS maxMs, k.rows, k.offset, k.bytes
  FROM ${KEY_TABLES[level]} k CROSS JOIN files f ON f.chain = k.chain AND f.level = ${level} AND f.first = k.first
  CROSS JOIN ${OBJECT}
  WHERE k.chain = ?1 AND k.key = ?2 AND k.first_height BETWEEN MAX(
    COALESCE((SELECT first_height FROM ${KEY_TABLES[level]} WHERE chain = ?1 AND key = ?2 AND first_height <= ?4
      ORDER BY first_height DESC LIMIT 1), 0),
    COALESCE((SELECT MIN(first) FROM files WHERE chain = ?1 AND level = ${level} AND state = 'live'
      AND last_ms >= ?5 - ${SLACK_MS}), ${Number.MAX_SAFE_INTEGER}))
  AND MIN(?3, COALESCE((SELECT MAX(last) FROM files WHERE chain = ?1 AND level = ${level} AND state = 'live'
      AND first_ms <= ?6 + ${SLACK_MS}), -1))
  AND k.last_height >= ?4 AND k.max_ms >= ?5 AND k.min_ms <= ?6 AND f.state = 'live'`
const dayRows = (direction: 'ASC' | 'DESC') =>
  `${keyRows(2)} UNION ALL ${keyRows(3)} ORDER BY firstHeight ${direction} LIMIT ${MAX_DAY_RANGES}`

/** Page ranges in the requested order. `isAll`: whether these are all of them. */
export async function pageRanges(
  { chain, db }: ArchiveStorage,
  { key, order, fromMs, toMs, from, upTo }: RowsQuery,
): Promise<{ readonly stretches: readonly PageRange[]; readonly isAll: boolean }> {
  const isNewest = order === 'newest'
  const queries = [
    dayRangesQuery({ db, chain }, { key, order, fromMs, toMs, from, upTo }),
    ...([0, 1] as const).map((level) => db.prepare(BUCKET).bind(chain, level, bucketOf(level, key), key)),
  ]
  const [ofDays, ...recent] = (await db.batch<Row>(queries)).map(({ results }) => results) as [Row[], ...Row[][]]
  const isAll = ofDays.length < MAX_DAY_RANGES
  const edge = ofDays.at(-1)?.firstHeight ?? 0
  // If more days follow, omit recent ranges beyond the last day in this list.
  const isTold = ({ firstHeight }: Row) => isAll || (isNewest ? firstHeight > edge : firstHeight < edge)
  const isWanted = ({ firstHeight, lastHeight, minMs, maxMs }: Row) =>
    firstHeight <= upTo && lastHeight >= from && maxMs >= fromMs && minMs <= toMs
  const others = recent.flat().filter((row) => isTold(row) && isWanted(row))
  const rows = [...ofDays, ...others].sort((a, b) => a.firstHeight - b.firstHeight)
  const stretches = rows.map((row) => pageRangeOf(chain, row))
  return { stretches: isNewest ? stretches.reverse() : stretches, isAll }
}

/** The query that selects only rows of days and months. */
export function dayRangesQuery(
  { chain, db }: Pick<ArchiveStorage, 'chain' | 'db'>,
  { key, order, fromMs, toMs, from, upTo }: RowsQuery,
): D1PreparedStatement {
  return db.prepare(dayRows(order === 'newest' ? 'DESC' : 'ASC')).bind(chain, key, upTo, from, fromMs, toMs)
}

/** Page ranges of the rows that `dayRangesQuery` selects. */
export function pageRangesOfRows(chain: string, rows: readonly unknown[]): PageRange[] {
  return rows.map((row) => pageRangeOf(chain, row as Row))
}

function pageRangeOf(chain: string, row: Row): PageRange {
  const { level, number, etag, firstHeight, lastHeight, rows, minMs, maxMs, offset, bytes } = row
  const file: Omit<FileSpan, 'lastMs'> = row
  const object = { key: objectKey(chain, level, file, number), etag }
  return { object, first: firstHeight, last: lastHeight, rows, minMs, maxMs, offset, bytes }
}
