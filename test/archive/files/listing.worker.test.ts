// Where the rows of a key lie, over more days than are told of at once, with newer files above them and backfilled ones below.

import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { bucketOf, isBucketLevel, KEY_TABLES, type Level } from '../../../src/archive/files/levels.ts'
import { pageRanges, type RowsQuery } from '../../../src/archive/files/listing.store.ts'

const place = { chain: 'listing', bucket: env.ARCHIVE, db: env.HISTORY }
const KEY = 'u:0x1'
const DAYS = 150
/** Days are of ten heights, from 100 on; what was backfilled lies at 1 and amid them, what is new at the end. */
const FIRST = 100

/** Months come before days. */
const levelOf = (height: number): Level => (height < FIRST + 5 * DAYS ? 3 : 2)

async function put(level: Level, first: number): Promise<void> {
  const chain = place.chain
  const db = place.db
  const file = db
    .prepare(`INSERT INTO files (chain, level, first, last, first_ms, last_ms, objects, rows, bytes, state)
      VALUES (?, ?, ?, ?, ?, ?, 1, 1, 1, 'live')`)
    .bind(chain, level, first, first, first, first)
  const object = db
    .prepare(`INSERT INTO file_objects (chain, level, first, number, bytes, etag) VALUES (?, ?, ?, 0, 1, 'x')`)
    .bind(chain, level, first)
  const entry = [KEY, first, first, first, first, 1, 0, 1]
  const index = isBucketLevel(level)
    ? db
        .prepare(`INSERT INTO file_buckets (chain, level, bucket, first, number, entries) VALUES (?, ?, ?, ?, 0, ?)`)
        .bind(chain, level, bucketOf(level, KEY), first, JSON.stringify([entry]))
    : db
        .prepare(`INSERT INTO ${KEY_TABLES[level]} (chain, first, number, key, first_height, last_height, min_ms, max_ms, rows,
            offset, bytes) VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`)
        .bind(chain, first, ...entry)
  await db.batch([file, object, index])
}

it.each(['newest', 'oldest'] as const)('lists each page range once and in order, %s first', async (order) => {
  const heights = [1, 2, ...Array.from({ length: DAYS }, (_, day) => FIRST + 10 * day), 1_005, 9_000, 9_001]
  if (order === 'newest')
    for (const height of heights)
      await put(
        height === 1 || height === 9_001
          ? 0
          : height === 2 || height % 10 > 0 || height === 9_000
            ? 1
            : levelOf(height),
        height,
      )
  const told: number[] = []
  let wanted: RowsQuery = { key: KEY, order, fromMs: 0, toMs: 1e9, from: 0, upTo: 1e9 }
  for (let pages = 0; pages < 9; pages++) {
    const { stretches, isAll } = await pageRanges(place, wanted)
    told.push(...stretches.map(({ first }) => first))
    const last = told.at(-1)!
    if (isAll) break
    wanted = order === 'newest' ? { ...wanted, upTo: last - 1 } : { ...wanted, from: last + 1 }
  }
  heights.sort((a, b) => (order === 'newest' ? b - a : a - b))
  expect(told).toEqual(heights)
})
