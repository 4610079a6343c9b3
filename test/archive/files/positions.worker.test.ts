// Positions of everybody from stored files: at any height those of a naive count, through failures, merges and repairs.

import { gunzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ArchiveStorage } from '../../../src/archive/archive/archive-writer.store.ts'
import { BackfillStore } from '../../../src/archive/archive/backfill.store.ts'
import { tableFiles } from '../../../src/archive/exports/exports.store.ts'
import { StoredFiles } from '../../../src/archive/files/files.store.ts'
import { positionsAt } from '../../../src/archive/files/positions.store.ts'
import type { BlockEvents } from '../../../src/archive/files/rows.ts'
import { positionAfter } from '../../../src/archive/positions.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { fillWith } from '../../kit/fills.ts'
import { failing, SETTLED_MS } from './compacting.worker.ts'
import { archived, compact, counted, placeOf, segmentOf } from './places.worker.ts'

const START_MS = Date.UTC(2026, 10, 20)
/** Shortly before the end of a cell, so that digests are read too. */
const FIRST = 3 * 32_768 - 50
const BLOCKS = 240
const LAST = FIRST + BLOCKS - 1
const COINS = ['BTC', 'ETH', 'xyz:GOLD']
const USERS = Array.from({ length: 12 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
const wire = (units: number) => `${units}.0`
const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gunzipSync(bytes)) }
const timeOf = (height: number) => START_MS + (height - FIRST) * 1_200_000

let seed = 7
const random = (below: number) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return Math.floor((seed / 2 ** 31) * below)
}

/** Fills of few wallets, whose positions often change sign, close, or jump without a fill. */
const blocks: BlockEvents[] = (() => {
  const positions = new Map<string, number>()
  return Array.from({ length: BLOCKS }, (_, at) => {
    const height = FIRST + at
    const fills = Array.from({ length: random(4) }, (_, n): UserFill => {
      const user = USERS[random(USERS.length)]!
      const coin = COINS[random(COINS.length)]!
      const start = (positions.get(user + coin) ?? 0) + (random(12) === 0 ? 1 : 0)
      const delta = random(2) === 0 && start !== 0 ? -start : random(7) - 3 || 1
      positions.set(user + coin, start + delta)
      const side = delta > 0 ? 'B' : 'A'
      const amounts = { sz: wire(Math.abs(delta)), startPosition: wire(start) }
      return [user, fillWith({ coin, side, time: timeOf(height), tid: 4 * height + n, oid: n, ...amounts })]
    })
    return { height, time: timeOf(height), fills, ledger: [] }
  })
})()

/** `[user, szi, height, height of the last break]` of each open position. */
function counting(coin: string, upTo: number, isKnown = (_: number) => true): unknown[] {
  const last = new Map<string, [szi: number, height: number, broken: number | null]>()
  for (const { height, fills } of blocks)
    for (const [user, fill] of height <= upTo && isKnown(height) ? fills : []) {
      if (fill.coin !== coin) continue
      const [known, , broken] = last.get(user) ?? [0, 0, null]
      const start = Number(fill.startPosition)
      const szi = start + (fill.side === 'B' ? 1 : -1) * Number(fill.sz)
      if (szi === 0) last.delete(user)
      else last.set(user, [szi, height, start === known ? broken : height])
    }
  return [...last].map(([user, [szi, ...more]]) => [user, wire(szi), ...more]).sort()
}

async function stored(place: ArchiveStorage, coin: string, upTo: number): Promise<unknown[]> {
  const fold = await new StoredFiles(place).positions(coin, upTo)
  return [...fold!.byUser]
    .map(([user, change]) => [user, positionAfter(change)] as const)
    .filter(([, { szi }]) => szi !== '0.0')
    .map(([user, { szi, height, at }]) => [user, szi, height, at?.height ?? null])
    .sort()
}

const snapshots = async ({ chain, db }: ArchiveStorage) =>
  (
    await db
      .prepare(`SELECT DISTINCT height FROM position_snapshots WHERE chain = ? ORDER BY height`)
      .bind(chain)
      .all<{ height: number }>()
  ).results.map(({ height }) => height)

/** Rows of the table of positions, by the day's last height. */
async function tables(place: ArchiveStorage): Promise<Map<number, Record<string, unknown>[]>> {
  const source = tableFiles(place.db, place.chain).find(({ product }) => product === 'positions_by_coin')!
  const files = await source.files({ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, null, 1_000)
  const days = new Map<number, Record<string, unknown>[]>()
  for (const { key, last } of files) {
    const file = await (await place.bucket.get(key))!.arrayBuffer()
    days.set(last, [...(days.get(last) ?? []), ...(await parquetReadObjects({ file, compressors }))])
  }
  return days
}

const DAYS = [1, 2, 3].map((day) => FIRST + 72 * day - 1)

describe('positions of a few days', () => {
  const place = placeOf('positions')
  beforeAll(async () => {
    await archived(place, blocks, 3)
    await compact(failing(5)(place), { now: () => 0, objectBytes: 3_000, partRows: 5 })
  }, 180_000)

  it('equal those of a naive count at 200 heights', async () => {
    expect(await snapshots(place)).toEqual(DAYS)
    for (let left = 200; left > 0; left--) {
      const coin = COINS[random(COINS.length)]!
      const height = FIRST + random(BLOCKS)
      expect([height, await stored(place, coin, height)]).toEqual([height, counting(coin, height)])
    }
    expect(await stored(place, 'BTC', FIRST - 1)).toEqual([])
  })

  it('are in a table per day, by coin and wallet, in parts', async () => {
    const days = await tables(place)
    expect([...days.keys()]).toEqual(DAYS)
    for (const [last, rows] of days) {
      const all = COINS.flatMap((coin) => counting(coin, last).map((row) => [coin, ...(row as unknown[])]))
      expect(rows.map((row) => [row.coin, row.user, row.szi, Number(row.height), broken(row)])).toEqual(all)
      expect(rows[0]!.block_time).toEqual(new Date(timeOf(Number(rows[0]!.height))))
    }
  })

  it('cost one snapshot and the files after it', async () => {
    const { place: watched, calls } = counted(place)
    await stored(watched, 'BTC', DAYS[1]!)
    expect(calls()).toEqual([0, 1])
    await stored(watched, 'BTC', DAYS[1]! + 3)
    const [queries, reads] = calls()
    expect(queries).toBe(1)
    expect(reads).toBeLessThanOrEqual(3)
  })

  it('are refused if they take too many reads', async () => {
    expect(await positionsAt(place, 'BTC', LAST, 10)).toBeNull()
  })
})

const broken = (row: Record<string, unknown>) => (row.break_height == null ? null : Number(row.break_height))

it('are those of the known fills around missing blocks, and correct everywhere once these are repaired', async () => {
  const place = placeOf('repaired positions')
  const isLost = ({ height }: BlockEvents) => height >= FIRST + 60 && height < FIRST + 90
  const lost = blocks.filter(isLost)
  await archived(
    place,
    blocks.filter(({ height }) => height < FIRST + 60),
    3,
  )
  await archived(
    place,
    blocks.filter(({ height }) => height >= FIRST + 90),
    3,
  )
  let nowMs = 0
  await compact(place, { now: () => nowMs, partRows: 5 })
  const heights = [FIRST + 59, FIRST + 75, FIRST + 89, FIRST + 95, ...DAYS, LAST]
  const check = async (isKnown: (height: number) => boolean) => {
    for (const coin of COINS)
      for (const height of heights)
        expect([coin, height, await stored(place, coin, height)]).toEqual([
          coin,
          height,
          counting(coin, height, isKnown),
        ])
  }
  await check((height) => height < FIRST + 60 || height >= FIRST + 90)
  const before = await snapshots(place)
  const store = new BackfillStore(place)
  const segment = { ...segmentOf(lost), epoch: null, known: 'events' as const }
  const around = await store.neighbors(segment.first, segment.last)
  await store.write([segment], around, { source: 'test', nowMs })
  await compact(place, { now: () => nowMs, partRows: 5 })
  nowMs += SETTLED_MS
  await compact(place, { now: () => nowMs, partRows: 5 })
  await check(() => true)
  expect((await snapshots(place)).filter((height) => before.includes(height))).toEqual(before)
  const days = await tables(place)
  const expected = counting('BTC', DAYS[2]!).map((row) => (row as unknown[]).slice(0, 2))
  expect(days.get(DAYS[2]!)!.flatMap(({ coin, user, szi }) => (coin === 'BTC' ? [[user, szi]] : []))).toEqual(expected)
}, 120_000)
