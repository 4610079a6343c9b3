// Where the rows of a key lie, over more days than are told of at once, with newer files above them and backfilled ones below. A
// list that is read page by page while its rows move.

import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import { bucketOf, isBucketLevel, KEY_TABLES, type Level } from '../../../src/archive/files/levels.ts'
import { pageRanges, type RowsQuery } from '../../../src/archive/files/listing.store.ts'
import { ok } from '../../../src/core/result.ts'
import { eventHistoryOf } from '../../../src/info/sources/event-history.ts'
import { rowPage } from '../../../src/info/sources/row-pages.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { fillWith } from '../../kit/fills.ts'
import { archived, compact } from './places.worker.ts'
import { quickStores } from './quick-stores.worker.ts'

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

describe('a list by row', () => {
  const OWNER = `0x${'1'.repeat(40)}`
  const fill = (tid: number): UserFill => [
    OWNER,
    fillWith({ sz: '0.5', time: 1, oid: tid, tid, closedPnl: '0', fee: '0' }),
  ]
  /** Every tenth block has more fills than a page. There are three blocks an hour. */
  const blocks = Array.from({ length: 100 }, (_, height): EventBlock & { readonly ledger: [] } => ({
    height,
    time: Date.UTC(2026, 10, 20) + height * 1_200_000,
    fills: Array.from({ length: height % 10 === 4 ? 150 : 3 }, (_, at) => fill(1_000 * height + at)),
    ledger: [],
    funding: [],
  }))

  it.each(['oldest', 'newest'] as const)(
    'has each row once, %s first, while its rows move and files are merged',
    async (order) => {
      const { placeOf } = await quickStores()
      const place = placeOf(`rows-${order}`)
      let filed = 0
      const levels = new Set<unknown>()
      const move = async () => {
        if (filed < 95) await archived(place, blocks.slice(filed, filed + 19))
        filed = Math.min(95, filed + 19)
        await compact(place, { objectBytes: 8_000 })
        const live = await place.db
          .prepare(`SELECT level FROM files WHERE chain = ? AND state = 'live'`)
          .bind(place.chain)
          .all()
        for (const { level } of live.results) levels.add(level)
      }
      await move()
      const pageAt = async (cursor: string) => {
        const log = blocks.slice(filed)
        const history = { stored: async () => ok({ head: log.at(-1)!, since: log[0]!, runs: [log] }) }
        const events = eventHistoryOf({ history, files: new StoredFiles(place), archive: null, after: () => () => {} })
        const query = {
          kind: 'fills',
          scope: { by: 'user', address: OWNER },
          order,
          limit: 100,
          timeOf: () => 0,
        } as const
        const rowsOf = ({ fills }: EventBlock) => fills.map(([, { tid }]) => tid)
        const page = await rowPage({ ...query, rowsOf, request: { type: 't', cursor } }, { events }, null)
        if (!page.ok) throw new Error(JSON.stringify(page.error))
        return page.value
      }
      const tids: number[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; await move()) {
        const { body, nextCursor } = await pageAt(cursor)
        tids.push(...(JSON.parse(body) as number[]))
        cursor = nextCursor
      }
      const all = blocks.flatMap(({ fills }) => fills.map(([, { tid }]) => tid as number))
      expect(tids).toEqual(order === 'newest' ? all.reverse() : all)
      expect([...levels].sort()).toEqual([0, 1, 2])
    },
  )
})
