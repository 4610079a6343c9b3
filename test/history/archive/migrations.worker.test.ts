// The tables of D1 HISTORY from their first version on, with data in it: nothing that was archived is lost on the way, and what
// reads and removes it today takes it as it is.

import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { StoredArchive } from '../../../src/history/archive/archive.store.ts'
import { checkpointKey, segmentKey } from '../../../src/history/archive/archive-keys.ts'
import { pack } from '../../../src/history/archive/packed.client.ts'
import { Retention } from '../../../src/history/archive/retention.store.ts'
import { StoredExports } from '../../../src/history/exports/exports.store.ts'

const { MIGRATIONS } = env as unknown as { MIGRATIONS: { HISTORY: Parameters<typeof applyD1Migrations>[1] } }
const db = env.HISTORY
const CHAIN = 'old'
const DAY_MS = 86_400_000
const TABLES = ['segments', 'checkpoints', 'gaps'] as const

async function empty(): Promise<void> {
  const { results } = await db
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_cf%' ESCAPE '\\'`,
    )
    .all<{ name: string }>()
  await db.batch(results.map(({ name }) => db.prepare(`DROP TABLE ${name}`)))
}

/** As the first version wrote it: two days of a segment and a checkpoint each, and a gap. */
async function fill(): Promise<void> {
  for (const day of [0, 1]) {
    const place = { first: 10 * day, last: 10 * day + 1, firstMs: day * DAY_MS }
    const sums: (number | string)[] = []
    for (const kind of ['events', 'books'] as const) {
      const { body, sha256 } = await pack([`{"${kind}":${day}}`, '{}'])
      await env.ARCHIVE.put(segmentKey(CHAIN, place, kind), body)
      sums.push(body.byteLength, sha256)
    }
    const [eventsBytes, eventsSum, booksBytes, booksSum] = sums
    await db
      .prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, epoch, lines, events_bytes, books_bytes,
        events_sha256, books_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .bind(
        CHAIN,
        place.first,
        place.last,
        place.firstMs,
        place.firstMs + 1,
        'a',
        2,
        eventsBytes,
        booksBytes,
        eventsSum,
        booksSum,
      )
      .run()
    const { body, sha256 } = await pack(['{}', `{"coin":"BTC","height":${place.first},"seq":1,"levels":[[],[]]}`])
    await env.ARCHIVE.put(checkpointKey(CHAIN, place.first), body)
    await db
      .prepare(
        `INSERT INTO checkpoints (chain, height, time_ms, epoch, coins, bytes, sha256) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(CHAIN, place.first, place.firstMs, 'a', 1, body.byteLength, sha256)
      .run()
  }
  await db
    .prepare(`INSERT INTO gaps (chain, from_height, to_height, after_ms, before_ms) VALUES (?, ?, ?, ?, ?)`)
    .bind(CHAIN, 2, 9, 1, DAY_MS)
    .run()
}

const rows = async () => {
  const all = await db.batch<Record<string, unknown>>(
    TABLES.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`)),
  )
  return all.map(({ results }) => results)
}

it('what the first version wrote is there after each migration, and is read and removed as what is written today', async () => {
  await empty()
  await applyD1Migrations(db, MIGRATIONS.HISTORY.slice(0, 1))
  await fill()
  const first = await rows()
  expect(first.map(({ length }) => length)).toEqual([2, 2, 1])
  for (const [at, { name }] of MIGRATIONS.HISTORY.entries()) {
    await applyD1Migrations(db, MIGRATIONS.HISTORY.slice(0, at + 1))
    // A migration may add columns.
    expect(await rows(), name).toMatchObject(first)
  }

  const archive = new StoredArchive({ chain: CHAIN, bucket: env.ARCHIVE, db })
  const [segment] = await archive.segmentsFrom({ height: 0 }, 9)
  expect(await Array.fromAsync(archive.lines(segment!, 'books'))).toEqual(['{"books":0}', '{}'])
  expect(await Array.fromAsync(archive.books(10, null))).toMatchObject([{ coin: 'BTC', height: 10 }])
  const exports = new StoredExports(db, CHAIN, undefined)
  const range = { fromMs: 0, toMs: 2 * DAY_MS }
  const files = await Promise.all(exports.sources.map((source) => source.files(range, null, 9)))
  expect(files.map(({ length }) => length)).toEqual([2, 2, 2, 0, 0, 0, 0, 0])
  expect(await exports.gaps(null, 9)).toEqual([{ from: 2, to: 9, afterMs: 1, beforeMs: DAY_MS }])

  const retention = new Retention({ chain: CHAIN, bucket: env.ARCHIVE, db })
  const days = { events: 1, books: 1, checkpoints: 1 }
  const at = { nowMs: 2 * DAY_MS, newestMs: 2 * DAY_MS }
  expect((await retention.turn(days, at)).objects).toBe(3)
  expect((await rows()).map(({ length }) => length)).toEqual([1, 1, 1])
})
