// recentTrades from the log's fills if they suffice, else from an upstream.

import { expect, it } from 'vitest'
import { err, ok } from '../../../src/core/result.ts'
import { queryOf } from '../../../src/info/queries/catalogue.ts'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { FILL, OTHER_USER, USER } from '../../../src/protocol/info/examples.ts'
import { createWorld, type World } from '../answer/service-world.ts'

const CALL = { type: 'recentTrades', coin: 'BTC' }
const TAKEN = `0x${'aa'.repeat(32)}`
const DOWN = err({ kind: 'upstream_failed', source: 's' } as const)
const THEIRS = JSON.stringify(queryOf('recentTrades')!.example.response)

const side = (user: string, more: Partial<Fill>): UserFill => [user, { ...FILL, side: 'B', ...more } as Fill]
/** Both sides of a trade with the seller as taker. */
const trade = (tid: number) => [
  side(USER, { tid, crossed: false, px: `${tid}.0` }),
  side(OTHER_USER, { tid, side: 'A', px: `${tid}.0`, hash: TAKEN, builder: USER }),
]
const blockOf = (height: number, fills: readonly UserFill[]): EventBlock => ({
  height,
  time: height,
  fills: [...fills],
  funding: [],
})

/** A world whose log has this many trades since a gap, two per block, with an unmatched fill before the last. */
function worldWith(trades: number): World {
  const world = createWorld()
  const blocks = Array.from({ length: trades / 2 }, (_, i) =>
    blockOf(40 + i, [...trade(100 + 2 * i), side(USER, { tid: 0 }), ...trade(101 + 2 * i)]),
  )
  world.held = {
    head: { height: 99, time: 990 },
    since: { height: 40, time: 400 },
    runs: [[blockOf(30, trade(99))], blocks],
  }
  return world
}

it('returns the last ten own trades, newest first, without an upstream', async () => {
  const world = worldWith(14)
  const { status, body, headers } = await world.send(CALL)
  expect([status, world.asked, headers['x-block-height'], headers['x-history-from-height']]).toEqual([
    200,
    [],
    '99',
    '40',
  ])
  const rows = JSON.parse(body) as { tid: number }[]
  queryOf('recentTrades')!.response().parse(rows)
  expect(rows.map(({ tid }) => tid)).toEqual([113, 112, 111, 110, 109, 108, 107, 106, 105, 104])
  const { coin, sz, time } = FILL
  expect(rows[0]).toEqual({ coin, side: 'A', px: '113.0', sz, time, hash: TAKEN, tid: 113, users: [USER, OTHER_USER] })
})

it('calls an upstream if own trades are too few or unavailable', async () => {
  const few = worldWith(8)
  few.upstream = () => ok(THEIRS)
  expect([(await few.send(CALL)).body, few.asked.length]).toEqual([THEIRS, 1])
  const away = worldWith(14)
  away.bookFailure = { kind: 'unavailable', what: 'x' }
  away.upstream = () => ok(THEIRS)
  expect((await away.send(CALL)).body).toBe(THEIRS)
})

it('returns its few own trades if no upstream responds', async () => {
  const few = worldWith(8)
  few.upstream = () => DOWN
  const reply = await few.send(CALL)
  expect([reply.status, (JSON.parse(reply.body) as object[]).length]).toEqual([200, 8])
  const none = worldWith(0)
  none.upstream = () => DOWN
  expect((await none.send(CALL)).status).toBe(502)
})

it('returns more on request: own trades, then older upstream trades, each once', async () => {
  const rowsOf = async (world: World, rows: number) => {
    const { body, headers } = await world.send({ ...CALL, rows })
    return [(JSON.parse(body) as { tid: number }[]).map(({ tid }) => tid), headers['x-block-height']]
  }
  const many = worldWith(40)
  expect([await rowsOf(many, 30), many.asked]).toEqual([[Array.from({ length: 30 }, (_, i) => 139 - i), '99'], []])
  const few = worldWith(4)
  // The upstream is ahead of ours and shares one trade.
  const theirs = [200, 101, 50, 49].map((tid) => ({
    ...JSON.parse(THEIRS)[0],
    tid,
    time: FILL.time + (tid > 101 ? 1 : 0),
  }))
  few.upstream = () => ok(JSON.stringify(theirs))
  expect(await rowsOf(few, 30)).toEqual([[103, 102, 101, 100, 50, 49], '99'])
  expect(few.asked).toEqual([JSON.stringify(CALL)])
  expect(await rowsOf(few, 5)).toEqual([[200, 101, 50, 49], undefined])
})
