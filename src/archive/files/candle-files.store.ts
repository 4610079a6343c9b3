// Reads candles from files. One-minute candles of days and months are pages in R2. All other candles are in D1.
// Invariants: one D1 batch reads all rows, so that they are from the same moment; the number of R2 reads is limited; an
// unreadable page is reported as a hole.

import { MINUTE_MS } from '../../core/time.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { ArchiveDamage } from '../archive/archive-read.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import type { CandlesRequest, FileCandles, TimeSpan } from '../candles.ts'
import { BASE_INTERVALS, baseOf, type Candle, type CandleParts, partsOfRows, spanOf } from '../candles.ts'
import { candleKey, partsOf } from './candle-lines.ts'
import { endsOfFiles } from './coverage.store.ts'
import { linesOfPage, PARALLEL_READS, pagesOfRange } from './key-lines.store.ts'
import { bucketOf } from './levels.ts'
import { dayRangesQuery, type PageRange, pageRangesOfRows } from './listing.store.ts'
import type { RangeStorage } from './object-range.store.ts'

/**
 * Maximum reads per response, in full rounds of parallel reads. A window may need more; then the response is shorter.
 * 5,000 five-minute candles span 18 days.
 */
const MAX_READS = 60
/** Maximum rows per response from files of days and months. */
const MAX_DAY_ROWS = 10_000
/** A row may span a month, so the first row may start before the window. */
const MAX_ROW_SPAN_MS = 32 * 86_400_000
const [SHORTEST] = BASE_INTERVALS

interface HeightGap {
  readonly from: number
  readonly to: number
  readonly afterMs: number
  readonly beforeMs: number
}
interface CandleRowOfFile {
  readonly first: number
  readonly parts: string
}
type DayRow = CandleRowOfFile & { readonly minMs: number; readonly days: number }

const RECENT = `SELECT f.first, e.value->>8 AS parts FROM file_buckets k
  JOIN files f ON f.chain = k.chain AND f.level = k.level AND f.first = k.first, json_each(k.entries) e
  WHERE k.chain = ?1 AND k.level = ?2 AND k.bucket = ?3 AND f.state = 'live' AND e.value->>0 = ?4 AND f.last_ms >= ?5
  AND f.first_ms <= ?6 AND e.value->>8 IS NOT NULL ORDER BY f.first, k.number`
/**
 * Selects rows in time order until all of them but the last contain enough candles of the window. The last candle of
 * the last row may be partial.
 */
const DAYS = `WITH day AS (SELECT k.min_ms, k.level, k.first, k.number, COALESCE(SUM(CASE WHEN k.min_ms >= ?6 THEN k.candles ELSE 0 END)
  OVER (ORDER BY k.min_ms, k.first, k.number ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), 0) AS before FROM file_candles k JOIN files f ON f.chain = k.chain AND f.level = k.level AND f.first = k.first
  WHERE k.chain = ?1 AND k.coin = ?2 AND k.base = ?3 AND k.min_ms BETWEEN ?4 AND ?5 AND k.max_ms >= ?6 AND f.state = 'live')
  SELECT k.first, k.parts, k.min_ms AS minMs, (SELECT COUNT(*) FROM day) AS days FROM day JOIN file_candles k
  ON k.chain = ?1 AND k.coin = ?2 AND k.base = ?3 AND k.min_ms = day.min_ms AND k.level = day.level AND k.first = day.first
  AND k.number = day.number
  WHERE day.before < ?7 ORDER BY k.min_ms, k.first, k.number LIMIT ?8`

/** Candles of those day files that were read. */
interface DayCandles extends Pick<FileCandles, 'parts' | 'untilMs'> {
  readonly damaged: readonly DamagedSpan[]
}
/** The period of an unreadable run of pages. `last`: the last block of the run. */
type DamagedSpan = TimeSpan & { readonly last: number }

export async function readCandles(
  storage: ArchiveStorage & RangeStorage,
  request: CandlesRequest,
): Promise<FileCandles | null> {
  const { chain, db } = storage
  const { coin, interval, fromMs, toMs } = request
  const blocks = blockSpan(request)
  const { base, parts: max } = baseOf(interval)
  const key = candleKey(coin)
  const recent = ([0, 1] as const).map((level) =>
    db.prepare(RECENT).bind(chain, level, bucketOf(level, key), key, blocks.fromMs, blocks.toMs),
  )
  const days =
    base === SHORTEST
      ? dayRangesQuery(storage, { key, order: 'oldest', ...blocks, from: 0, upTo: Number.MAX_SAFE_INTEGER })
      : db
          .prepare(DAYS)
          .bind(chain, coin, base, fromMs - MAX_ROW_SPAN_MS, toMs, fromMs, 2 * max * request.limit, MAX_DAY_ROWS)
  const lost = `SELECT from_height AS "from", to_height AS "to", after_ms AS afterMs, before_ms AS beforeMs FROM file_gaps
    WHERE chain = ? AND known IS NULL ORDER BY from_height`
  const statements = [...endsOfFiles(storage), db.prepare(lost).bind(chain), ...recent, days]
  const [from, to, gaps, minutes, hours, rows] = (await db.batch<unknown>(statements)).map(
    ({ results }) => results,
  ) as [HeightAndTime[], HeightAndTime[], HeightGap[], CandleRowOfFile[], CandleRowOfFile[], unknown[]]
  const first = from[0]
  const last = to[0]
  if (!first || !last) return null
  const inside = gaps.filter((gap) => gap.to >= first.height && gap.from <= last.height)
  const holes = inside.map(({ afterMs, beforeMs }) => ({ fromMs: afterMs, toMs: beforeMs }))
  const lacking = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: first.time }, ...holes]
  const { parts, untilMs, damaged } =
    base === SHORTEST
      ? await daysOfPages(storage, request, pageRangesOfRows(chain, rows), lacking)
      : daysOfRows(rows as DayRow[])
  const starts = [
    ...inside.map(({ to: height, beforeMs }) => ({ height: height + 1, time: beforeMs })),
    ...damaged.map(({ last: height, toMs: time }) => ({ height: height + 1, time })),
  ]
  return {
    from: first,
    to: last,
    untilMs,
    parts: [...parts, ...[...hours, ...minutes].map(partsOfRow)],
    holes: [...damaged, ...holes],
    since: starts.reduce((newest, start) => (start.height > newest.height ? start : newest), first),
  }
}

const partsOfRow = ({ first, parts }: CandleRowOfFile): CandleParts => ({ height: first, parts: partsOfRows(parts) })

function daysOfRows(rows: readonly DayRow[]): DayCandles {
  const last = rows.at(-1)
  const untilMs = last !== undefined && rows.length < last.days ? last.minMs : null
  return { parts: rows.map(partsOfRow), untilMs, damaged: [] }
}

async function daysOfPages(
  storage: ArchiveStorage & RangeStorage,
  request: CandlesRequest,
  all: readonly PageRange[],
  lacking: readonly TimeSpan[],
): Promise<DayCandles> {
  const parts: CandleParts[] = []
  const damaged: DamagedSpan[] = []
  for (let at = 0; ; at += PARALLEL_READS) {
    const untilMs = all[at]?.minMs ?? null
    if (untilMs === null) return { parts, damaged, untilMs }
    const isPage = () => countComplete(parts, request, untilMs, [...lacking, ...damaged]) >= request.limit
    if (at >= MAX_READS || isPage()) return { parts, damaged, untilMs }
    const read = all.slice(at, at + PARALLEL_READS).map((stretch) => readParts(storage, request, stretch))
    for (const some of await Promise.all(read)) {
      if ('parts' in some) parts.push(some)
      else damaged.push(some)
    }
  }
}

/** The number of complete candles in the window. */
function countComplete(
  parts: readonly CandleParts[],
  { interval, fromMs }: CandlesRequest,
  untilMs: number,
  lacking: readonly TimeSpan[],
): number {
  const begins = new Set(parts.flatMap((some) => some.parts.map(({ t }) => spanOf(interval, t).t)))
  const isWhole = ({ t, T }: Pick<Candle, 't' | 'T'>) =>
    t >= fromMs && T < untilMs && !lacking.some((hole) => hole.fromMs <= T && hole.toMs >= t)
  return [...begins].filter((t) => isWhole(spanOf(interval, t))).length
}

/** Reads the candles of a run of pages. If the pages are unreadable, returns their period. */
async function readParts(
  storage: RangeStorage,
  request: CandlesRequest,
  range: PageRange,
): Promise<CandleParts | DamagedSpan> {
  const { fromMs, toMs } = blockSpan(request)
  try {
    const pages = await pagesOfRange(storage, candleKey(request.coin), range)
    const matching = pages.filter((page) => page.maxMs >= fromMs && page.minMs <= toMs)
    const lines = await Promise.all(matching.map(linesOfPage))
    return { height: range.first, parts: lines.flat().flatMap(partsOf) }
  } catch (error) {
    if (!(error instanceof ArchiveDamage)) throw error
    return { fromMs: spanOf(SHORTEST, range.minMs).t, toMs: spanOf(SHORTEST, range.maxMs).T, last: range.last }
  }
}

/** Block times whose trades may be in the window. A line has the time of its first block, which may be earlier. */
function blockSpan({ fromMs, toMs }: TimeSpan): TimeSpan {
  return { fromMs: fromMs - MINUTE_MS, toMs: toMs + MINUTE_MS }
}
