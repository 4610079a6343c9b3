// Types that read the archive files: results, upstream requests and rejections without a charge.

import { beforeEach, describe, expect, it } from 'vitest'
import { toScaled } from '../../../src/core/decimal.ts'
import { err, ok } from '../../../src/core/result.ts'
import { Prng, seedState } from '../../../src/devnet/exchange/prng.ts'
import type { Fill, UserFill } from '../../../src/protocol/feed/block.ts'
import type { EventBlock } from '../../../src/protocol/feed/durable-api.ts'
import { FILL, HASH, OTHER_USER, USER } from '../../../src/protocol/info/examples.ts'
import { framesOf } from '../../relay/targets.ts'
import { createWorld, type World } from '../answer/service-world.ts'
import { blockOf, filesOf, type Kept, logOf } from '../stored-blocks.ts'

const NODE = { builder: OTHER_USER, deployerFee: '0.1', priorityGas: 1 }
const DAY = 86_400_000
const START = 1_790_000_000_000
/** One fill per day. */
const list = (days: number, own: object = NODE) =>
  Array.from({ length: days }, (_, i) => blockOf(i + 1, START + i * DAY, 1, own))
const timeAt = (height: number) => START + (height - 1) * DAY

let world: World
let kept: Kept
function keep(blocks: readonly EventBlock[], more: Partial<Kept> = {}) {
  const { height, time } = blocks.at(-1)!
  kept = { blocks, head: { height, time }, logFrom: height, filesTo: height - 1, filesFrom: 11, ...more }
  world = createWorld({ files: filesOf(() => kept) })
  world.held = logOf(kept)
}
beforeEach(() => keep(list(30)))

/** Rows of the exchange up to a height. */
const theirs = (to: number, from = 1) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ ...blockOf(from + i, timeAt(from + i)).fills[0]![1] }))
async function ask(request: object) {
  const reply = await world.send(request)
  const body = JSON.parse(reply.body)
  const shown = Array.isArray(body)
    ? body.map((row: { time?: number; fill?: Fill }) => row.time ?? row.fill!.time)
    : body
  return { ...reply, shown, asked: world.asked.map((one) => JSON.parse(one)) }
}
const times = (from: number, to: number) => {
  const all = Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => timeAt(Math.min(from, to) + i))
  return from > to ? all.reverse() : all
}

describe('userFills', () => {
  it('has own rows followed by upstream rows, without node-only fields', async () => {
    world.upstream = () => ok(JSON.stringify(theirs(28).reverse()))
    const { shown, body, headers } = await ask({ type: 'userFills', user: USER })
    expect(shown).toEqual(times(30, 1))
    expect(body).not.toMatch(/builder"|deployerFee|priorityGas/)
    expect(headers).toMatchObject({ 'x-block-height': '30', 'x-history-from-height': '11' })
  })

  it('calls no upstream if own rows fill the page', async () => {
    const day = list(1)[0]!
    keep([day, blockOf(20, START + DAY, 2_500), blockOf(30, START + 2 * DAY, 1)], { filesFrom: 1 })
    const { shown, asked } = await ask({ type: 'userFills', user: USER })
    expect([shown.length, asked]).toEqual([2_000, []])
  })

  it('uses the upstream if the log is unreadable', async () => {
    world.bookFailure = { kind: 'unavailable', what: 'x' }
    const { body } = await ask({ type: 'userFills', user: USER })
    expect(body).toBe(JSON.stringify([FILL]))
  })
})

describe('userPnlSummary', () => {
  const BLOCKS = 1_300
  const ROWS = 10
  const summary = (more: object = {}) => ask({ type: 'userPnlSummary', user: USER, ...more })
  beforeEach(() => {
    const blocks = Array.from({ length: BLOCKS }, (_, i) => blockOf(i + 1, timeAt(i + 1), ROWS))
    keep(blocks, { filesFrom: 1 })
  })

  it('rejects a window with too many fills and names a possible window', async () => {
    const { status, shown } = await summary()
    const startTime = Number(/^startTime: must be at least (\d+):/.exec(shown.msg)?.[1])
    expect([status, startTime, world.charged]).toEqual([422, timeAt(BLOCKS - 900 + 1), []])
    expect(await summary({ startTime: timeAt(1) })).toMatchObject({ status: 422 })
    const { status: served, shown: told } = await summary({ startTime })
    expect([served, told.daysActive]).toEqual([200, 900])
  })

  it('uses the fills before the end of an early window', async () => {
    const { status, shown } = await summary({ endTime: timeAt(900) })
    expect([status, shown.daysActive]).toEqual([200, 900])
    expect(await summary({ endTime: timeAt(1_100) })).toMatchObject({ status: 422 })
    expect(await summary({ startTime: timeAt(200), endTime: timeAt(1_100) })).toMatchObject({ status: 200 })
  })
})

// Field test T12
it.each([
  ['BTC', 5],
  ['@107', 2],
])(
  'merged fills of 1,000 orders in %s are exact over HTTP and sockets, and sizes have %i decimals',
  async (coin, decimals) => {
    const random = new Prng(seedState(12))
    const amount = (most: number, digits: number) => (1 + random.below(most)) / 10 ** digits
    const blocks = Array.from({ length: 100 }, (_, at): EventBlock => {
      const time = START + at
      const fills = Array.from({ length: 10 * (1 + random.below(4)) }, (__, n): UserFill => {
        const px = amount(1_000_000, 1 + random.below(3)).toString()
        const amounts = { px, sz: amount(100_000, decimals).toFixed(decimals), fee: amount(1_000, 6).toFixed(6) }
        return [USER, { ...FILL, side: 'B', ...amounts, coin, time, oid: 10 * at + (n % 10), tid: 100 * at + n }]
      })
      return { height: at + 1, time, fills, funding: [] }
    })
    keep([...blocks, blockOf(101, START + 100)], { filesFrom: 1, filesTo: 90, logFrom: 80 })
    world.upstream = () => ok('[]')
    const merged = { aggregateByTime: true, user: USER }
    const { body } = await ask({ type: 'userFillsByTime', startTime: START, endTime: START + 99, ...merged })
    const rows = JSON.parse(body) as Fill[]
    expect(rows.map(({ oid }) => oid).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, oid) => oid))
    const told = blocks.flatMap(({ fills }) => framesOf({ type: 'userFills', ...merged }, { fills: [...fills] }))
    expect(told.flatMap(({ data }) => data.fills)).toEqual(rows)
    const parts = Map.groupBy(
      blocks.flatMap(({ fills }) => fills.map(([, fill]) => fill)),
      ({ oid }) => oid,
    )
    const decimalsOf = (text: string) => text.split('.')[1]?.length ?? 0
    for (const { oid, px, ...sums } of rows) {
      const own = parts.get(oid)!
      for (const name of ['sz', 'fee', 'closedPnl'] as const)
        expect(toScaled(sums[name])).toBe(own.reduce((sum, part) => sum + toScaled(part[name]), 0n))
      expect(decimalsOf(sums.sz)).toBeLessThanOrEqual(decimals)
      expect(decimalsOf(px)).toBeLessThanOrEqual(4 + Math.max(...own.map((part) => decimalsOf(part.px))))
    }
  },
)

describe('userFillsByTime', () => {
  const call = (more: object) => ask({ type: 'userFillsByTime', user: USER, ...more })

  it('requests only rows older than ours', async () => {
    world.upstream = () => ok(JSON.stringify(theirs(10, 5)))
    const { shown, asked } = await call({ startTime: timeAt(5), endTime: timeAt(20) })
    expect(shown).toEqual(times(5, 20))
    expect(asked).toMatchObject([{ startTime: timeAt(5), endTime: timeAt(11) }])
    world.upstream = () => ok(JSON.stringify(theirs(10, 5).reverse()))
    expect((await call({ startTime: timeAt(5), reversed: true })).shown).toEqual(times(30, 5))
  })

  it('calls no upstream within our own history', async () => {
    const { shown, asked } = await call({ startTime: timeAt(12), endTime: START + 1e12 })
    expect([shown, asked]).toEqual([times(12, 30), []])
  })

  it('fails without a charge if a needed upstream does not respond', async () => {
    world.upstream = () => err({ kind: 'upstream_timeout', source: 's' })
    expect((await call({ startTime: 0 })).status).toBe(504)
    expect(world.charged).toEqual([])
    // Newest first, so the rest can be requested later.
    expect((await call({ startTime: 0, reversed: true })).shown).toEqual(times(30, 11))
    const nobody = { kind: 'unavailable', what: 'No source', hint: 'none' } as const
    world.upstream = () => err(nobody)
    expect((await call({ startTime: 0 })).shown).toEqual(times(11, 30))
  })
})

it.each(['userTwapSliceFills', 'userTwapSliceFillsByTime'])(
  '%s are the fills of TWAP orders beside their ids',
  async (type) => {
    keep([...list(29), blockOf(30, timeAt(30), 1, { twapId: 7 }), blockOf(31, timeAt(31), 1)])
    world.upstream = () => ok('[]')
    const { body } = await ask({ type, user: USER, startTime: timeAt(2) })
    expect(JSON.parse(body)).toMatchObject([{ twapId: 7, fill: { tid: 30_000, twapId: null } }])
  },
)

it('userNonFundingLedgerUpdates merges own and upstream rows, each once', async () => {
  const delta = { type: 'deposit', usdc: '1.0' }
  const row = (height: number) => ({ time: timeAt(height), hash: HASH, delta })
  const blocks = list(30).map((block) => ({ ...block, fills: [], ledger: [{ users: [USER], ...row(block.height) }] }))
  keep(blocks)
  world.upstream = () => ok(JSON.stringify(Array.from({ length: 12 }, (_, i) => row(i + 1))))
  const { body, asked } = await ask({ type: 'userNonFundingLedgerUpdates', user: USER })
  expect(JSON.parse(body)).toEqual(Array.from({ length: 30 }, (_, i) => row(i + 1)))
  expect(asked).toMatchObject([{ endTime: timeAt(11) }])
})

describe('builderFillsByTime', () => {
  const call = (more: object) => ask({ type: 'builderFillsByTime', builder: OTHER_USER, ...more })

  it('returns a window, newest first, and continues before a cursor', async () => {
    expect((await call({ startTime: timeAt(12), endTime: timeAt(15) })).shown).toEqual(times(15, 12))
    expect((await call({ startTime: timeAt(12), endTime: timeAt(15), cursor: String(timeAt(14)) })).shown).toEqual(
      times(13, 12),
    )
    expect((await call({ cursor: String(timeAt(13)) })).shown).toEqual(times(12, 11))
    expect((await call({ cursor: '0' })).shown).toEqual([])
    expect(world.asked).toEqual([])
  })

  it('rejects an invalid window without a charge', async () => {
    for (const more of [{}, { startTime: 2, endTime: 1 }, { startTime: -1 }, { cursor: '1_0' }, { cursor: '-1' }])
      expect((await call(more)).status, JSON.stringify(more)).toBe(422)
    expect(world.charged).toEqual([])
  })

  it('ends before unreadable data, and fails without a charge if nothing else is left', async () => {
    keep(list(5_000), { damaged: 3_500, filesFrom: 1, filesTo: 4_950, logFrom: 4_901 })
    const { shown, headers } = await call({ startTime: 0 })
    expect(shown).toEqual(times(5_000, 4_902))
    expect(headers['x-history-from-height']).toBe('4901')
    world.charged.length = 0
    const reply = await call({ startTime: 0, endTime: timeAt(3_600) })
    expect([reply.status, reply.headers['x-credits-cost'], world.charged]).toEqual([503, '0', []])
  })
})

describe('delegatorHistory', () => {
  const deposit = (height: number): EventBlock => ({
    height,
    time: timeAt(height),
    fills: [],
    funding: [],
    ledger: [{ users: [USER], time: timeAt(height), hash: HASH, delta: { type: 'cDeposit', amount: `${height}.0` } }],
  })
  const row = (height: number) => ({ time: timeAt(height), hash: HASH, delta: { cDeposit: { amount: `${height}.0` } } })

  it('returns archived rows, newest first, then upstream rows', async () => {
    keep(Array.from({ length: 30 }, (_, i) => deposit(i + 1)))
    world.upstream = () => ok(JSON.stringify([28, 12, 11, 10, 4].map(row)))
    const reply = await ask({ type: 'delegatorHistory', user: USER })
    expect(JSON.parse(reply.body)).toEqual([...Array.from({ length: 20 }, (_, i) => row(30 - i)), row(10), row(4)])
    expect(reply.headers).toMatchObject({ 'x-history-from-height': '11' })
  })
})

describe('a cursor by row', () => {
  const fields = { type: 'userFillsByTime', user: USER, startTime: timeAt(12) }
  const nextOf = async (request: object) => (await ask(request)).headers['x-next-cursor']
  const dense = () => keep([...list(29), blockOf(30, timeAt(30), 2_500), blockOf(31, timeAt(31))])

  it('is refused for any other request, without a charge', async () => {
    dense()
    const cursor = await nextOf({ ...fields, cursor: '' })
    expect((await ask({ ...fields, cursor })).status).toBe(200)
    world.charged.length = 0
    for (const other of [
      { user: OTHER_USER },
      { type: 'userTwapSliceFillsByTime' },
      { reversed: true },
      { aggregateByTime: true },
      { startTime: timeAt(13) },
      { endTime: timeAt(40) },
      { cursor: `${cursor}0` },
      { cursor: cursor!.replace(/^r-./, 'r-0') },
    ]) {
      const { status, shown } = await ask({ ...fields, cursor, ...other })
      expect([other, status, shown.msg]).toEqual([other, 422, expect.stringMatching(/^cursor: is not of this request/)])
    }
    expect(world.charged).toEqual([])
    // Equivalent requests have the same cursors.
    expect((await ask({ ...fields, user: USER.toUpperCase().replace('X', 'x'), endTime: null, cursor })).status).toBe(
      200,
    )
  })

  it('is absent from the last page and from requests without one', async () => {
    dense()
    expect(await nextOf(fields)).toBeUndefined()
    const last = await ask({ ...fields, cursor: await nextOf({ ...fields, cursor: '' }) })
    expect([last.shown.length, last.headers['x-next-cursor']]).toEqual([18 + 2_500 + 1 - 2_000, undefined])
    // The response without a cursor is the first page.
    expect((await ask({ ...fields, cursor: '' })).body).toBe((await ask(fields)).body)
  })

  it('counts merged rows with aggregateByTime', async () => {
    const { fills, ...block } = blockOf(30, timeAt(30), 5_000)
    const pairs = fills.map(([user, fill], at): UserFill => [user, { ...fill, oid: at >> 1 }])
    keep([...list(29), { ...block, fills: pairs }, blockOf(31, timeAt(31), 1_000)])
    const request = { ...fields, aggregateByTime: true }
    const first = await ask({ ...request, cursor: '' })
    const second = await ask({ ...request, cursor: first.headers['x-next-cursor'] })
    expect([first.shown.length, second.shown.length]).toEqual([2_000, 18 + 2_500 + 1 - 2_000])
    const rows = [first, second].flatMap(({ body }) => JSON.parse(body) as Fill[]).slice(18, -1)
    expect(rows.map(({ oid, sz }) => `${oid} ${sz}`)).toEqual(Array.from({ length: 2_500 }, (_, oid) => `${oid} 0.02`))
    expect(second.headers['x-next-cursor']).toBeUndefined()
  })

  it('is refused where Weir has no rows of its own', async () => {
    for (const request of [
      { type: 'fundingHistory', coin: 'BTC', startTime: 0 },
      { type: 'historicalOrders', user: USER },
      { type: 'userFills', user: USER },
      { type: 'candleSnapshot', req: { coin: 'BTC', interval: '1m', startTime: 0 } },
    ]) {
      expect((await world.send({ ...request, cursor: null })).status).toBe(200)
      const { status, body } = await world.send({ ...request, cursor: '' })
      expect([status, JSON.parse(body).msg]).toEqual([
        422,
        expect.stringMatching(/^cursor: is not supported by this type/),
      ])
    }
    world = createWorld()
    const { status, shown } = await ask({ ...fields, cursor: '' })
    expect([status, shown.msg]).toEqual([422, expect.stringMatching(/^cursor: needs an archive/)])
  })

  it('pages the fills of a builder, also within one time', async () => {
    dense()
    for (const type of ['builderFills', 'builderFillsByTime']) {
      const tids: number[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const { body, headers } = await ask({ type, builder: OTHER_USER, cursor })
        tids.push(...JSON.parse(body).map(({ tid }: Fill) => tid))
        cursor = headers['x-next-cursor']
      }
      const stored = kept.blocks.filter(({ height }) => height >= 11).flatMap(({ fills }) => fills)
      expect(tids).toEqual(stored.map(([, { tid }]) => tid).reverse())
    }
    expect(world.asked).toEqual([])
  })

  it('pages funding: whole days of the source, then own rows', async () => {
    const hour = (at: number) => START - (START % DAY) + at * 3_600_000
    const delta = (coin: string) => ({ type: 'funding', coin, usdc: '1', szi: '1', fundingRate: '0', nSamples: null })
    const coins = Array.from({ length: 90 }, (_, at) => `C${at}`)
    const blocks = Array.from({ length: 40 }, (_, at): EventBlock => {
      // A payment has the time of its hour, and its block is somewhat later.
      const ledger = coins.map((coin) => ({ users: [USER], time: hour(at), hash: HASH, delta: delta(coin) }))
      return { height: at + 1, time: hour(at) + 900, fills: [], funding: [], ledger }
    })
    keep(blocks, { logFrom: 38, filesTo: 39, filesFrom: 6 })
    const daily = { time: hour(0), hash: HASH, delta: { ...delta('DAY'), nSamples: 24 } }
    world.upstream = () => ok(JSON.stringify([daily]))
    const rows: { time: number; delta: { coin: string } }[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body, headers } = await ask({ type: 'userFunding', user: USER, cursor })
      rows.push(...JSON.parse(body))
      cursor = headers['x-next-cursor']
    }
    const own = Array.from({ length: 16 }, (_, at) => coins.map((coin) => `${hour(24 + at)} ${coin}`)).flat()
    expect(rows.map((row) => `${row.time} ${row.delta.coin}`)).toEqual([`${hour(0)} DAY`, ...own])
  })
})
