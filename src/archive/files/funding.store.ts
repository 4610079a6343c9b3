// Stores the funding of files in D1. A minute's funding is written together with its file, and one batch reads the
// funding of many spans. Invariants: known funding is never rewritten, because later sums are based on it; the sums of a
// range of heights are consistent with each other, but not with those of other ranges.

import type { Coin } from '../../core/coin.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import type { FundingSpan, SpanFunding } from '../funding-spans.ts'
import { addDecimals, addSums, type Payment, paidBetween, type SummedPayment } from './funding-sums.ts'
import type { FileSpan } from './levels.ts'

/** Maximum rows per statement, because D1 accepts strings of up to 2 MB. */
const ROWS_PER_STATEMENT = 5_000

/** Rows for a minute's funding: one row that marks it as known, and its sums. */
export async function fundingRows(
  { chain, db }: ArchiveStorage,
  { first, last, firstMs }: FileSpan,
  payments: readonly Payment[],
): Promise<D1PreparedStatement[]> {
  if (await db.prepare(IS_KNOWN).bind(chain, first, last).first()) return []
  const known = db.prepare(insertRange('file_funded')).bind(chain, first, last, firstMs)
  if (payments.length === 0) return [known]
  const coins = [...new Set(payments.map(({ coin }) => coin))]
  const { results } = await db
    .prepare(BEFORE)
    .bind(chain, first, JSON.stringify(coins))
    .all<{ coin: Coin; sum: string }>()
  const before = new Map(results.map(({ coin, sum }) => [coin, sum]))
  const rows = addSums(payments, before).map(({ coin, height, perUnit, sum }) => [coin, height, perUnit, sum])
  return [known, ...jsonChunks(rows).map((text) => db.prepare(PUT).bind(chain, text, first))]
}

/** The row that marks payments per wallet as known for a file. */
export function paidRow({ chain, db }: ArchiveStorage, { first, last, firstMs }: FileSpan): D1PreparedStatement {
  return db.prepare(insertRange('file_paid')).bind(chain, first, last, firstMs)
}

/** Returns the funding that was paid during each span. Spans without payments are omitted. */
export async function fundingOver(
  { chain, db }: ArchiveStorage,
  spans: readonly FundingSpan[],
): Promise<readonly SpanFunding[]> {
  const texts = jsonChunks(spans.map(({ coin, from, to }) => [coin, from, to]))
  if (texts.length === 0) return []
  const answers = await db.batch<PaidRow>(texts.map((text) => db.prepare(OVER).bind(chain, text)))
  return answers.flatMap(({ results }) => {
    const paid = new Map<number, SpanFunding>()
    for (const { at, coin, from, end, ...first } of results) {
      const before = paid.get(at)?.perUnit ?? '0'
      paid.set(at, { coin, from, perUnit: addDecimals(before, paidBetween(first, { sum: end })) })
    }
    return [...paid.values()]
  })
}

/** Funding of one span in one range. `at`: index of the span. */
interface PaidRow extends Pick<SummedPayment, 'coin' | 'perUnit' | 'sum'> {
  readonly at: number
  readonly from: number
  readonly end: string
}

/** Removes funding of heights below all files. */
export function sweepFunding({ chain, db }: Pick<ArchiveStorage, 'chain' | 'db'>): D1PreparedStatement[] {
  return SWEEP.map((statement) => db.prepare(statement).bind(chain))
}

function jsonChunks(rows: readonly unknown[]): string[] {
  const count = Math.ceil(rows.length / ROWS_PER_STATEMENT)
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify(rows.slice(at * ROWS_PER_STATEMENT, (at + 1) * ROWS_PER_STATEMENT)),
  )
}

const IS_KNOWN = `SELECT 1 FROM file_funded WHERE chain = ?1 AND from_height <= ?2 AND to_height >= ?3 LIMIT 1`
/** Extends the range that ends directly before it. A range that follows stays separate. */
const insertRange = (
  table: 'file_funded' | 'file_paid',
) => `INSERT INTO ${table} (chain, from_height, to_height, from_ms)
  SELECT ?1, COALESCE(k.from_height, ?2), ?3, COALESCE(k.from_ms, ?4) FROM (SELECT 1) LEFT JOIN
  (SELECT from_height, from_ms FROM ${table} WHERE chain = ?1 AND from_height <= ?2 AND to_height >= ?2 - 1
    ORDER BY from_height DESC LIMIT 1) k ON TRUE WHERE TRUE
  ON CONFLICT DO UPDATE SET to_height = MAX(to_height, excluded.to_height)`
// CROSS JOIN fixes the join order. Otherwise SQLite scans all rows of the chain.
const BEFORE = `SELECT k.value AS coin, f.sum FROM json_each(?3) k CROSS JOIN file_funding f ON f.chain = ?1 AND f.coin = k.value
  AND f.height = (SELECT MAX(height) FROM file_funding WHERE chain = ?1 AND coin = k.value AND height < ?2)`
/** Funding of the block before a file is that of the file's first block, unless the range has the block before. */
const PUT = `INSERT OR REPLACE INTO file_funding (chain, coin, height, per_unit, sum)
  SELECT ?1, value->>0, MAX(value->>1, (SELECT MAX(from_height) FROM file_funded WHERE chain = ?1 AND from_height <= ?3)),
  value->>2, value->>3 FROM json_each(?2) WHERE TRUE`
/** One row per span and range, because the sums of a range do not include heights that were repaired below it later. */
const OVER = `SELECT s.key AS at, s.value->>0 AS coin, s.value->>1 AS "from", a.per_unit AS perUnit, a.sum, b.sum AS "end"
  FROM json_each(?2) s
  CROSS JOIN file_funded r ON r.chain = ?1 AND r.from_height <= s.value->>2 AND r.to_height >= s.value->>1
  CROSS JOIN file_funding a ON a.chain = ?1 AND a.coin = s.value->>0 AND a.height = (SELECT MIN(height) FROM file_funding
    WHERE chain = ?1 AND coin = s.value->>0 AND height >= MAX(s.value->>1, r.from_height))
  CROSS JOIN file_funding b ON b.chain = ?1 AND b.coin = s.value->>0 AND b.height = (SELECT MAX(height) FROM file_funding
    WHERE chain = ?1 AND coin = s.value->>0 AND height <= MIN(s.value->>2, r.to_height))
  WHERE a.height <= b.height`
/** The lowest height among files and pending ranges. */
const LOWEST = `(SELECT MIN(height) FROM (SELECT MIN(first) AS height FROM files WHERE chain = ?1
  UNION ALL SELECT MIN(from_height) FROM unfiled WHERE chain = ?1))`
const SWEEP = [
  `DELETE FROM file_funding WHERE chain = ?1 AND height < ${LOWEST}`,
  ...['file_funded', 'file_paid'].flatMap((table) => [
    `DELETE FROM ${table} WHERE chain = ?1 AND to_height < ${LOWEST}`,
    // A later backfill below this height must not count as known.
    `UPDATE ${table} SET (from_height, from_ms) = (SELECT first, first_ms FROM files WHERE chain = ?1 ORDER BY first LIMIT 1)
    WHERE chain = ?1 AND from_height < ${LOWEST} AND ${LOWEST} = (SELECT MIN(first) FROM files WHERE chain = ?1)`,
  ]),
]
