// What goes of the archive, in R2 and D1: by age of each product, by bytes, and wherever it breaks off.

import { describe, expect, it } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { checkpointKey, segmentKey } from '../../../src/archive/archive/archive-keys.ts'
import { type ArchiveStorage, ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import { Retention } from '../../../src/archive/archive/retention.store.ts'
import type { RetentionDays } from '../../../src/archive/archive/retention.ts'
import { placeOf, segmentOf } from '../files/places.worker.ts'

const DAY_MS = 86_400_000
const DAYS = [0, 1, 2, 3]
const FOR_GOOD: RetentionDays = { events: null, books: null, checkpoints: null }
/** The last block is of the fourth day. */
const AT = { nowMs: 9 * DAY_MS, newestMs: 3 * DAY_MS + 1_000 }

/** Two blocks at the beginning of a day. */
const segment = (day: number) =>
  segmentOf([0, 1].map((at) => ({ height: 10 * day + at, time: day * DAY_MS + at * 1_000 })))

/** A segment and a checkpoint for each of four days. */
async function archived(chain: string) {
  const place = placeOf(chain)
  const writer = new ArchiveWriter(place)
  for (const day of DAYS) {
    await writer.putSegment(segment(day))
    const height = 10 * day
    const taken = { epoch: 'a', height, through: height, time: day * DAY_MS, coins: 0, unsure: 0 }
    await writer.putCheckpoint({ ...taken, lines: [] })
  }
  return { place, archive: new StoredArchive(place), retention: new Retention(place) }
}

/** Days of which there are objects, by their rows and as the bucket has them. */
async function held({ chain, db, bucket }: ArchiveStorage) {
  const rows = await db
    .prepare(`SELECT first, events_bytes AS events, books_bytes AS books FROM segments WHERE chain = ? ORDER BY first`)
    .bind(chain)
    .all<{ first: number; events: number; books: number }>()
  const heights = await db
    .prepare(`SELECT height FROM checkpoints WHERE chain = ? ORDER BY height`)
    .bind(chain)
    .all<{ height: number }>()
  const having = (kind: 'events' | 'books') =>
    rows.results.filter((row) => row[kind] > 0).map(({ first }) => first / 10)
  const told = {
    segments: rows.results.map(({ first }) => first / 10),
    events: having('events'),
    books: having('books'),
    checkpoints: heights.results.map(({ height }) => height / 10),
  }
  const isThere = async (key: string) => (await (bucket as R2Bucket).head(key)) !== null
  const daysOf = async (keyOf: (day: number) => string) => {
    const found = await Promise.all(DAYS.map((day) => isThere(keyOf(day))))
    return DAYS.filter((day) => found[day])
  }
  const stored = {
    events: await daysOf((day) => segmentKey(chain, segment(day), 'events')),
    books: await daysOf((day) => segmentKey(chain, segment(day), 'books')),
    checkpoints: await daysOf((day) => checkpointKey(chain, 10 * day)),
  }
  return { told, stored }
}

async function drain(retention: Retention, days: RetentionDays, at = AT) {
  const sum = { objects: 0, bytes: 0 }
  for (;;) {
    const { objects, bytes } = await retention.removeExpired(days, at)
    expect(objects).toBeLessThanOrEqual(64)
    if (objects === 0) return sum
    sum.objects += objects
    sum.bytes += bytes
  }
}

describe('removal by age', () => {
  it('removes each product by its own limit, and a segment with its last product', async () => {
    const { place, archive, retention } = await archived('by-age')
    await drain(retention, { ...FOR_GOOD, books: 2 })
    const withoutBooks = { segments: DAYS, events: DAYS, books: [1, 2, 3], checkpoints: [1, 2, 3] }
    expect(await held(place)).toMatchObject({ told: withoutBooks, stored: { books: [1, 2, 3] } })
    const [first] = await archive.segmentsFrom({ height: 0 }, 1)
    expect(await Array.fromAsync(archive.lines(first!, 'events'))).toEqual(segment(0).events)
    await expect(Array.fromAsync(archive.lines(first!, 'books'))).rejects.toThrow('.books.gz is removed')
    await drain(retention, { events: 1, books: 1, checkpoints: null })
    const left = { events: [2, 3], books: [2, 3], checkpoints: [2, 3] }
    expect(await held(place)).toEqual({ told: { segments: [2, 3], ...left }, stored: left })
  })

  it('removes repairs that no pipeline can deliver any more, and attempts below the archive', async () => {
    const { place, retention } = await archived('repairs')
    await place.db.batch([
      ...[3, 10, 11, 25].map((to) =>
        place.db
          .prepare(
            `INSERT INTO repairs (chain, from_height, to_height, known, source, at_ms) VALUES (?, 2, ?, 'fills', 'a', 0)`,
          )
          .bind(place.chain, to),
      ),
      ...[2, 12].map((to) =>
        place.db
          .prepare(`INSERT INTO repair_attempts VALUES (?, ?, ?, 'a', 1, 0, 'absent', '')`)
          .bind(place.chain, to, to + 3),
      ),
    ])
    const heights = async (table: string) => {
      const { results } = await place.db
        .prepare(`SELECT to_height AS at FROM ${table} WHERE chain = ? ORDER BY to_height`)
        .bind(place.chain)
        .all<{ at: number }>()
      return results.map(({ at }) => at)
    }
    await drain(retention, { ...FOR_GOOD, books: 2 })
    expect(await heights('repairs')).toEqual([3, 10, 11, 25])
    await drain(retention, { ...FOR_GOOD, events: 2 })
    expect(await heights('repairs')).toEqual([10, 11, 25])
    expect(await heights('repair_attempts')).toEqual([15])
    await drain(retention, { ...FOR_GOOD, events: 1 })
    expect(await heights('repairs')).toEqual([25])
    expect(await heights('repair_attempts')).toEqual([15])
  })

  it('removes nothing within the limit, nothing because of a fast clock, and never the newest segment', async () => {
    const { place, retention } = await archived('stays')
    const ahead = { nowMs: 3 * DAY_MS, newestMs: 900 * DAY_MS }
    const days = { events: 4, books: 4, checkpoints: 4 }
    expect(await drain(retention, FOR_GOOD)).toEqual({ objects: 0, bytes: 0 })
    expect(await drain(retention, days, ahead)).toEqual({ objects: 0, bytes: 0 })
    await drain(retention, { events: 1, books: 1, checkpoints: 1 }, { nowMs: 900 * DAY_MS, newestMs: 900 * DAY_MS })
    expect((await held(place)).stored).toEqual({ events: [3], books: [3], checkpoints: [3] })
  })

  it('removes exactly what its plan lists', async () => {
    const days = { events: null, books: 1, checkpoints: 2 }
    const { place, retention } = await archived('told')
    const before = await held(place)
    const plan = await retention.plan({ days, maxBytes: null }, AT)
    expect(await held(place)).toEqual(before)
    expect(plan.due).toMatchObject([
      { product: 'events', objects: 0, bytes: 0, first: null },
      { product: 'books', objects: 2, first: 0, last: 11, firstMs: 0, lastMs: DAY_MS + 1_000 },
      { product: 'checkpoints', objects: 2, first: 0, last: 10 },
    ])
    const told = plan.due.reduce((sum, one) => ({ objects: sum.objects + one.objects, bytes: sum.bytes + one.bytes }), {
      objects: 0,
      bytes: 0,
    })
    expect(await drain(retention, days)).toEqual(told)
    expect((await retention.plan({ days, maxBytes: null }, AT)).bytes).toBe(plan.bytes - told.bytes)
  })

  it('is bounded per turn, however much has expired', async () => {
    const place = placeOf('much')
    const row =
      place.db.prepare(`INSERT INTO segments (chain, first, last, first_ms, last_ms, epoch, lines, events_bytes,
      books_bytes, events_sha256, books_sha256) VALUES ('much', ?1, ?1, ?1, ?1, NULL, 1, 20, 30, 'x', 'x')`)
    await place.db.batch(Array.from({ length: 101 }, (_, first) => row.bind(first)))
    const days = { events: 1, books: 1, checkpoints: 1 }
    expect(await drain(new Retention(place), days)).toEqual({ objects: 200, bytes: 100 * 50 })
  })

  it('returns the remaining totals after each turn', async () => {
    const { place, retention } = await archived('sums')
    const { bytes } = await retention.plan({ days: FOR_GOOD, maxBytes: null }, AT)
    const sums = { segments: 4, bytes }
    expect(await retention.trim({ days: FOR_GOOD, maxBytes: bytes }, sums, AT)).toBeNull()
    const left = await retention.trim({ days: { events: 2, books: 2, checkpoints: null }, maxBytes: null }, sums, AT)
    expect(left).toEqual({ segments: 3, bytes: (await new Retention(place).trimToBytes(1e9)).bytes })
    const bounded = await retention.trim({ days: FOR_GOOD, maxBytes: 1 }, left!, AT)
    expect(bounded).toMatchObject({ segments: 1 })
  })
})

describe('an interrupted removal', () => {
  const DAYS_KEPT = { events: 2, books: 1, checkpoints: 2 }
  type Step = 'rows' | 'objects' | 'names'
  /** A place that fails at a step, before it is done or when it is. */
  const failing = (place: ArchiveStorage, step: Step, isDone: boolean): ArchiveStorage => {
    const broken = async <T>(work: () => Promise<T>): Promise<never> => {
      if (isDone) await work()
      throw new Error('broke off')
    }
    const { db, bucket } = place
    const batch: typeof db.batch = (statements) =>
      step === 'rows' ? broken(() => db.batch(statements)) : db.batch(statements)
    const prepare: typeof db.prepare = (sql) => {
      const statement = db.prepare(sql)
      if (step !== 'names' || !sql.includes('DELETE FROM removals')) return statement
      return { bind: (...values: unknown[]) => ({ run: () => broken(() => statement.bind(...values).run()) }) } as never
    }
    const remove: typeof bucket.delete = (keys) =>
      step === 'objects' ? broken(() => bucket.delete(keys)) : bucket.delete(keys)
    const get = bucket.get.bind(bucket)
    const put = bucket.put.bind(bucket)
    return { ...place, db: { batch, prepare }, bucket: { get, put, delete: remove } as ArchiveStorage['bucket'] }
  }

  it.each([
    ['rows', false],
    ['rows', true],
    ['objects', false],
    ['objects', true],
    ['names', false],
    ['names', true],
  ] as const)('at its %s (done: %s) leaves no row without its object, and is finished later', async (step, isDone) => {
    const { place } = await archived(`broken-${step}-${isDone}`)
    const broken = new Retention(failing(place, step, isDone))
    await expect(broken.removeExpired(DAYS_KEPT, AT)).rejects.toThrow('broke off')
    const { told, stored } = await held(place)
    for (const product of ['events', 'books', 'checkpoints'] as const)
      expect(stored[product]).toEqual(expect.arrayContaining(told[product]))
    await drain(new Retention(place), DAYS_KEPT)
    const left = { events: [1, 2, 3], books: [2, 3], checkpoints: [2, 3] }
    expect(await held(place)).toEqual({ told: { segments: [1, 2, 3], ...left }, stored: left })
    expect(
      await place.db.prepare(`SELECT COUNT(*) AS n FROM removals WHERE chain = ?`).bind(place.chain).first('n'),
    ).toBe(0)
  })

  it('does not remove a segment that was archived again in the meantime', async () => {
    const { place } = await archived('again')
    await expect(new Retention(failing(place, 'objects', false)).removeExpired(DAYS_KEPT, AT)).rejects.toThrow(
      'broke off',
    )
    await new ArchiveWriter(place).putSegment(segment(0))
    await new Retention(place).removeExpired(FOR_GOOD, AT)
    expect((await held(place)).stored.books).toContain(0)
  })
})
