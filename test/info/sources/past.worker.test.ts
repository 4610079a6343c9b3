// The log and the files as one list: what was archived by the log, what was backfilled, and what is missing.

import { expect, it } from 'vitest'
import { StoredArchive } from '../../../src/archive/archive/archive.store.ts'
import { objectKey } from '../../../src/archive/files/file-keys.ts'
import { ok } from '../../../src/core/result.ts'
import type { PastRequest } from '../../../src/info/ports.ts'
import { pastOf } from '../../../src/info/sources/past.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { blockAt, range, SETTLED_MS, timeOf, USER, World } from '../../archive/files/compacting.worker.ts'
import { quickStores } from '../../archive/files/quick-stores.worker.ts'

const { archive, history, placeOf } = await quickStores()

const HEAD = 158
type Kind = PastRequest['kind']

/** What a log that holds blocks from a height on tells of the user. */
function logFrom(first: number, kind: Kind) {
  const blocks = range(first, HEAD).map((height): EventBlock => {
    const { time, fills, ledger } = blockAt(height)
    return kind === 'fills'
      ? { height, time, fills: [...fills], funding: [] }
      : { height, time, fills: [], funding: [], ledger }
  })
  const head = { height: HEAD, time: timeOf(HEAD) }
  return { head, since: { height: first, time: timeOf(first) }, runs: [blocks] }
}

async function read(world: World, first: number, more: Partial<PastRequest> = {}) {
  const request: PastRequest = {
    kind: 'fills',
    scope: { by: 'user', address: USER },
    fromMs: 0,
    toMs: 1e15,
    order: 'newest',
    ...more,
  }
  const history = { held: async () => ok(logFrom(first, request.kind)) }
  const past = pastOf({ history, files: world.files, archive: new StoredArchive(world.place), after: () => () => {} })
  const heights: number[] = []
  const holes: number[] = []
  const rows: unknown[] = []
  const answer = await past.read(request, (block, isAfterHole) => {
    heights.push(block.height)
    if (isAfterHole) holes.push(block.height)
    rows.push(...block.fills, ...(block.ledger ?? []))
    return true
  })
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  return { ...answer.value, heights, holes, rows }
}

/** Files to 155, of which 10 to 39 were backfilled, with fills alone of 20 to 29, and 40 to 59 are missing. */
async function made(chain: string): Promise<World> {
  const world = new World(placeOf(chain))
  await world.log(range(60, 155))
  await world.turns()
  await world.backfill(range(30, 39))
  await world.backfill(range(10, 19))
  await world.turns(9)
  await world.backfill(range(20, 29), 'fills')
  await world.turns()
  world.nowMs = SETTLED_MS
  await world.turns()
  return world
}

const THERE = [...range(10, 39), ...range(60, HEAD)]
const rowsOf = (height: number, kind: Kind): unknown[] => {
  const { fills, ledger } = blockAt(height)
  return kind === 'fills' ? [...fills] : [...ledger]
}

it('is told once and in order, wherever the log begins, and says since when nothing is missing', async () => {
  const world = await made('past')
  for (const first of [100, 144, 154, 156])
    for (const order of ['newest', 'oldest'] as const)
      for (const kind of ['fills', 'ledger'] as const) {
        const told = await read(world, first, { order, kind })
        const there = THERE.filter((height) => kind === 'fills' || height < 20 || height > 29)
        const wanted = order === 'newest' ? there.toReversed() : there
        expect(told.heights).toEqual(wanted)
        expect(told.rows).toEqual(wanted.flatMap((height) => rowsOf(height, kind)))
        expect([told.ended, told.since]).toEqual(['all', { height: 60, time: timeOf(60) }])
        const holes = kind === 'fills' ? [39, 60] : [19, 30, 39, 60]
        expect(told.holes).toEqual(
          order === 'newest' ? holes.filter((_, at) => at % 2 === 0).reverse() : holes.filter((_, at) => at % 2 === 1),
        )
      }
})

it('within times is what the whole has of them', async () => {
  const world = new World(placeOf('past'))
  for (const [from, to] of [
    [12, 33],
    [35, 65],
    [70, 157],
    [41, 58],
  ] as const) {
    const { heights } = await read(world, 144, { fromMs: timeOf(from), toMs: timeOf(to), order: 'oldest' })
    expect(heights).toEqual(THERE.filter((height) => height >= from && height <= to))
  }
})

it('that files do not reach to is a hole below the log', async () => {
  const world = new World(placeOf('past'))
  const { heights, holes, since } = await read(world, 157)
  expect(heights).toEqual(THERE.filter((height) => height !== 156).reverse())
  expect([holes, since]).toEqual([[155, 39], { height: 157, time: timeOf(157) }])
})

it.each(['newest', 'oldest'] as const)(
  'of which a file is damaged is told as far as that is sure, %s first',
  async (order) => {
    const world = new World(placeOf('past'))
    const { results } = await history
      .prepare(`SELECT first, last FROM files WHERE chain = 'past' AND level = 2
    AND first >= 60 AND state = 'live' ORDER BY first`)
      .all<{ first: number; last: number }>()
    const day = results[1]!
    const prefix = objectKey('past', 2, { ...day, firstMs: timeOf(day.first) }, 0).replace(/\.0000\.pages$/, '')
    const { objects } = await archive.list({ prefix })
    const bodies = await Promise.all(objects.map(async ({ key }) => (await archive.get(key))!.arrayBuffer()))
    await archive.delete(objects.map(({ key }) => key))
    const { heights, holes, ended, since } = await read(world, 144, { order })
    for (const [at, { key }] of objects.entries()) await archive.put(key, bodies[at]!)
    expect([day.first, ended]).toEqual([expect.any(Number), 'damage'])
    if (order === 'newest') {
      expect(heights).toEqual(range(heights.at(-1)!, HEAD).reverse())
      expect([heights.at(-1)! > day.last, since.height]).toEqual([true, heights.at(-1)])
      return
    }
    const below = heights.filter((height) => height < 144)
    expect(below).toEqual(THERE.slice(0, below.length))
    expect(below.every((height) => height < day.first)).toBe(true)
    expect(heights.slice(below.length)).toEqual(range(144, HEAD))
    expect([holes.includes(144), since.height]).toEqual([true, 144])
  },
)
