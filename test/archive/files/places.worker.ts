// Writes blocks to an archive and builds files from it, for tests of the stored data.

import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { ArchiveDamage } from '../../../src/archive/archive/archive-read.ts'
import { type ArchiveStorage, ArchiveWriter } from '../../../src/archive/archive/archive-writer.store.ts'
import type { CutSegment } from '../../../src/archive/archive/segment-cutter.ts'
import { Compaction } from '../../../src/archive/files/compaction.store.ts'
import type { RangeCache } from '../../../src/archive/files/object-range.store.ts'

/** R2 and D1 as the platform has them. */
export const placeOf = (chain: string): ArchiveStorage => ({ chain, bucket: env.ARCHIVE, db: env.HISTORY })

interface Placed {
  readonly height: number
  readonly time: number
}

/** A segment of blocks that follow one another. */
export function segmentOf(blocks: readonly Placed[], events = blocks.map((one) => JSON.stringify(one))): CutSegment {
  const first = blocks[0]!
  const last = blocks.at(-1)!
  const span = { first: first.height, last: last.height, firstMs: first.time, lastMs: last.time }
  return { ...span, epoch: 'a', events, books: blocks.map(() => '{}') }
}

/** So many blocks a segment. */
export async function archived(place: ArchiveStorage, blocks: readonly Placed[], perSegment = 1): Promise<void> {
  const writer = new ArchiveWriter(place)
  for (let at = 0; at < blocks.length; at += perSegment)
    await writer.putSegment(segmentOf(blocks.slice(at, at + perSegment)))
}

interface Making {
  readonly now?: () => number
  readonly isBounded?: boolean
  readonly fillTableDays?: number | null
  readonly objectBytes?: number | undefined
  readonly partRows?: number
}

/** What makes files of a place. */
export function compactionOf(place: ArchiveStorage, making: Making = {}) {
  return new Compaction(new StoredArchive(place), place, {
    now: () => 0,
    isBounded: false,
    fillTableDays: null,
    ...making,
  })
}

/** Makes all files that are due, anew after each failure; answers how many there were. */
export async function compact(place: ArchiveStorage, making: Making = {}): Promise<number> {
  let failures = 0
  for (let compaction = compactionOf(place, making); ; ) {
    try {
      if (!(await compaction.turn())) return failures
    } catch (error) {
      if (error instanceof ArchiveDamage || ++failures > 10_000) throw error
      compaction = compactionOf(place, making)
    }
  }
}

/** The same place, and how often its D1 was asked and its R2 read since the last time that one asked for it. */
export function counted(place: ArchiveStorage) {
  const get = vi.fn(place.bucket.get.bind(place.bucket))
  const batch = vi.fn(place.db.batch.bind(place.db))
  const bucket = { ...place.bucket, get } as ArchiveStorage['bucket']
  const db = { prepare: place.db.prepare.bind(place.db), batch } as ArchiveStorage['db']
  const calls = () => {
    const counts = [batch.mock.calls.length, get.mock.calls.length]
    batch.mockClear()
    get.mockClear()
    return counts
  }
  return { place: { ...place, bucket, db }, calls, batch }
}

/** Ranges whose last page has a wrong checksum, although their object has the ETag of its row. */
export function unreadable(bucket: ArchiveStorage['bucket']): RangeCache {
  const get: RangeCache['get'] = async ({ key, offset, length }) => {
    const object = await bucket.get(key, { range: { offset, length } })
    return new Uint8Array(await object!.arrayBuffer()).fill(7, length - 8)
  }
  return { get, put: () => undefined }
}
