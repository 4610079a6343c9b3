// Archived heights that must still be written to files out of order: backfilled blocks and blocks of damaged files. A
// finished row is kept for a while, because adjacent heights may follow.

import type { UnfiledRange } from './archive-read.ts'

type UnfiledStorage = { readonly chain: string; readonly db: Pick<D1Database, 'prepare'> }

/** One backfill needs several requests. If no adjacent heights arrive within this time, none are expected. */
const SETTLED_MS = 600_000

/** A row for these heights. It is merged with the row that ends directly below them. */
export function unfiledRow(
  { chain, db }: UnfiledStorage,
  from: number,
  to: number,
  nowMs: number,
): D1PreparedStatement {
  const before = `SELECT from_height FROM unfiled WHERE chain = ?1 AND to_height = ?2 - 1`
  return db
    .prepare(`INSERT INTO unfiled (chain, from_height, to_height, next_height, at_ms)
      SELECT ?1, COALESCE((${before}), ?2), ?3, ?2, ?4 WHERE TRUE
      ON CONFLICT DO UPDATE SET to_height = MAX(to_height, ?3), next_height = MIN(next_height, ?2), at_ms = ?4`)
    .bind(chain, from, to, nowMs)
}

/** Marks all heights below `next` as done. */
export function advanceRow({ chain, db }: UnfiledStorage, { from }: UnfiledRange, next: number): D1PreparedStatement {
  return db
    .prepare(`UPDATE unfiled SET next_height = ? WHERE chain = ? AND from_height = ? AND next_height < ?`)
    .bind(next, chain, from, next)
}

export function lowestUnfiled({ chain, db }: UnfiledStorage): Promise<UnfiledRange | null> {
  return db
    .prepare(`SELECT from_height AS "from", to_height AS "to", next_height AS next FROM unfiled
      WHERE chain = ? AND next_height <= to_height ORDER BY from_height LIMIT 1`)
    .bind(chain)
    .first<UnfiledRange>()
}

/** The height below which more files may appear, and the ranges that still have to be written. */
export async function unsettledHeights({ chain, db }: UnfiledStorage, nowMs: number) {
  const { results } = await db
    .prepare(`SELECT next_height AS "from", to_height AS "to" FROM unfiled WHERE chain = ?
      AND (next_height <= to_height OR at_ms > ?)`)
    .bind(chain, nowMs - SETTLED_MS)
    .all<{ from: number; to: number }>()
  return {
    below: Math.max(0, ...results.map(({ to }) => to + 1)),
    pending: results.filter(({ from, to }) => from <= to),
  }
}

export async function sweepUnfiled({ chain, db }: UnfiledStorage, nowMs: number): Promise<void> {
  await db
    .prepare(`DELETE FROM unfiled WHERE chain = ? AND next_height > to_height AND at_ms <= ?`)
    .bind(chain, nowMs - SETTLED_MS)
    .run()
}
