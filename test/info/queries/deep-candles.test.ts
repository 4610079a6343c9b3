// candleSnapshot over files and log: own candles, upstream candles and rejections.

import { beforeEach, describe, expect, it } from 'vitest'
import { type Candle, spanOf } from '../../../src/archive/candles.ts'
import { INTERVAL_MS, INTERVALS, type Interval } from '../../../src/core/candle-interval.ts'
import { err, ok } from '../../../src/core/result.ts'
import { createEngine } from '../../../src/devnet/engine.ts'
import { MARKETS } from '../../../src/devnet/exchange/market.ts'
import { handleInfo } from '../../../src/devnet/info/info.ts'
import type { UserFill } from '../../../src/protocol/feed/block.ts'
import { type Filed, filedCandles, type TradedBlock, tradedBlock, truth } from '../../archive/filed-candles.ts'
import { createWorld, type World } from '../answer/service-world.ts'
import { filesOf } from '../stored-blocks.ts'

const MINUTE = 60_000
const T0 = Date.UTC(2026, 10, 5)
/** One block per minute with two trades. */
const ALL = Array.from({ length: 40 }, (_, at) =>
  tradedBlock(at + 1, T0 + at * MINUTE, [
    { px: 10 + at, sz: 150 },
    { px: 50 - at, sz: 25 },
  ]),
)
const FILES_FROM = 10
const FILES_TO = 35
const LOG_FROM = 33
const timeOf = (height: number) => ALL[height - 1]!.time

let world: World
let filed: Filed
/** Files that were read for candles. */
let reads: number
let untilMs: number | null
let isAway: boolean
beforeEach(() => {
  isAway = false
  filed = { files: [{ level: 0, blocks: ALL.slice(FILES_FROM - 1, FILES_TO) }] }
  reads = 0
  untilMs = null
  const head = { height: 40, time: timeOf(40) }
  const kept = { blocks: ALL, head, logFrom: LOG_FROM, filesTo: FILES_TO, filesFrom: FILES_FROM }
  const candles = async (request: Parameters<typeof filedCandles>[1]) => {
    reads++
    if (isAway) throw new Error('R2 is away')
    const found = filedCandles(filed, request)
    return found && { ...found, untilMs }
  }
  world = createWorld({ files: { ...filesOf(() => kept), candles } })
  world.held = { head, since: ALL[LOG_FROM - 1]!, runs: [ALL.slice(LOG_FROM - 1)] }
})
/** An upstream that knows everything. */
const theirs = (interval: Interval) => {
  world.upstream = (_, body) => {
    const { startTime, endTime = 8e15 } = JSON.parse(body).req
    return ok(JSON.stringify(truth(ALL, interval).filter(({ t, T }) => T >= startTime && t <= endTime)))
  }
}
async function ask(more: object) {
  const reply = await world.send({
    type: 'candleSnapshot',
    req: { coin: 'BTC', interval: '1m', startTime: T0, ...more },
  })
  const body = JSON.parse(reply.body)
  return { ...reply, body, asked: world.asked.map((one) => JSON.parse(one).req) }
}
const minutes = (candles: readonly Candle[]) => candles.map(({ t }) => (t - T0) / MINUTE)

describe('candleSnapshot', () => {
  it.each(INTERVALS)('of %s is our own, and the upstream’s where we may lack trades', async (interval) => {
    theirs(interval)
    const { body, asked, headers } = await ask({ interval, startTime: 5 })
    expect(body).toEqual(truth(ALL, interval))
    // The upstream is queried exactly for the time before the files.
    const { T } = spanOf(interval, timeOf(FILES_FROM))
    expect(asked).toMatchObject([T >= timeOf(40) ? { startTime: 5 } : { startTime: 5, endTime: T }])
    expect(headers['x-history-from-height'] ?? null).toBe(T >= timeOf(40) ? null : '10')
    expect(headers['x-block-height'] ?? null).toBe(T >= timeOf(40) ? null : '40')
  })

  it('calls no upstream within files and log, and no log within files', async () => {
    const { body, asked, headers } = await ask({ startTime: timeOf(11) })
    expect([minutes(body), asked]).toEqual([Array.from({ length: 30 }, (_, at) => at + 10), []])
    expect(headers).toMatchObject({ 'x-block-height': '40', 'x-history-from-height': '10' })
    expect([world.bookCalls, world.charged]).toEqual([1, [1_000_000]])
    const older = await ask({ startTime: timeOf(12) + 1, endTime: timeOf(20) })
    expect(minutes(older.body)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19])
    expect([world.bookCalls, older.headers['x-block-height']]).toEqual([1, '35'])
  })

  it('requests only the candles affected by a gap', async () => {
    filed = { ...filed, gaps: [{ fromMs: timeOf(15), toMs: timeOf(17) + 5 }] }
    theirs('1m')
    const { body, asked } = await ask({ startTime: timeOf(12) })
    expect(asked).toMatchObject([{ startTime: timeOf(15), endTime: timeOf(18) - 1 }])
    expect(body).toEqual(truth(ALL.slice(11), '1m'))
    // Candles that the upstream has dropped are omitted.
    world.upstream = () => ok('[]')
    expect(minutes((await ask({ startTime: timeOf(13) })).body)).toEqual(
      Array.from({ length: 28 }, (_, at) => at + 12).filter((minute) => minute < 14 || minute > 16),
    )
  })

  it('requests the newest candles if the log is unavailable, then without a height', async () => {
    world.bookFailure = { kind: 'unavailable', what: 'x' }
    theirs('1m')
    const { body, asked, headers } = await ask({ startTime: timeOf(20), endTime: null })
    expect(asked).toEqual([{ coin: 'BTC', interval: '1m', startTime: timeOf(35) }])
    expect(body).toEqual(truth(ALL.slice(19), '1m'))
    expect(headers).not.toHaveProperty('x-block-height')
  })

  it('fails without a charge if a needed upstream fails, but not if there is none', async () => {
    world.upstream = () => err({ kind: 'upstream_timeout', source: 's' })
    expect((await ask({ startTime: timeOf(5) })).status).toBe(504)
    expect(world.charged).toEqual([])
    world.upstream = () => err({ kind: 'unavailable', what: 'No source', hint: 'none' })
    const { body, headers } = await ask({ startTime: timeOf(6) })
    expect([minutes(body)[0], headers['x-history-from-height']]).toEqual([10, '10'])
    expect((await ask({ startTime: T0 - 9 * MINUTE, endTime: T0 - MINUTE })).body).toEqual([])
    // The part after the files exists but is unavailable now.
    world.bookFailure = { kind: 'unavailable', what: 'x' }
    expect((await ask({ startTime: timeOf(12) })).status).toBe(503)
    expect((await ask({ startTime: timeOf(12), endTime: timeOf(20) })).status).toBe(200)
  })

  it('uses an upstream that covers the start of the window if the files are unavailable, and otherwise fails', async () => {
    isAway = true
    theirs('1m')
    expect((await ask({ startTime: timeOf(12) })).body).toEqual(truth(ALL.slice(11), '1m'))
    world.upstream = () => ok(JSON.stringify(truth(ALL, '1m').slice(-5)))
    expect((await ask({ startTime: timeOf(12), endTime: timeOf(40) })).status).toBe(503)
    world.upstream = () => ok('[]')
    expect((await ask({ startTime: timeOf(12), endTime: timeOf(39) })).status).toBe(503)
  })

  it('passes the upstream through if we have nothing, and is empty if nothing happened', async () => {
    world.upstream = () => ok('[ ]')
    expect(
      (await world.send({ type: 'candleSnapshot', req: { coin: 'BTC', interval: '1m', startTime: 0, endTime: 9 } }))
        .body,
    ).toBe('[ ]')
    const quiet = { coin: 'ETH', startTime: timeOf(12) }
    world.upstream = () => err({ kind: 'upstream_timeout', source: 's' })
    expect((await ask(quiet)).body).toEqual([])
    world.upstream = () => err({ kind: 'bad_field', issues: [{ path: '', message: '' }] })
    expect(await ask({ ...quiet, coin: 'NOPE' })).toMatchObject({ status: 422, body: { msg: /req\.coin/ } })
  })

  it('is rejected without a charge if the window is too long', async () => {
    untilMs = timeOf(20)
    world.upstream = () => err({ kind: 'upstream_timeout', source: 's' })
    const { status, body } = await ask({ startTime: timeOf(12) })
    expect([status, body.msg]).toEqual([422, expect.stringContaining(`req.endTime: must be at most ${timeOf(20) - 1}`)])
    expect(world.charged).toEqual([])
    theirs('1m')
    expect((await ask({ startTime: timeOf(13) })).body).toEqual(truth(ALL.slice(12), '1m'))
  })

  it('accepts times beyond all dates', async () => {
    theirs('1M')
    for (const interval of ['1m', '1M'])
      expect((await ask({ interval, startTime: timeOf(12), endTime: Number.MAX_SAFE_INTEGER })).status).toBe(200)
    world.upstream = () => ok('[]')
    const far = { startTime: Number.MAX_SAFE_INTEGER - 1, endTime: Number.MAX_SAFE_INTEGER }
    expect((await ask({ ...far, interval: '1M' })).body).toEqual([])
  })

  it('uses the upstream if files are unreadable or missing', async () => {
    filed = { files: [] }
    theirs('1m')
    expect((await ask({ startTime: timeOf(12) })).body).toEqual(truth(ALL.slice(11), '1m'))
    expect([world.asked.length, reads, world.bookCalls]).toEqual([1, 1, 0])
  })

  it('pages without a gap from upstream candles to the open candle', async () => {
    const many = Array.from({ length: 12_001 }, (_, at) =>
      tradedBlock(at + 1, T0 + at * MINUTE, [{ px: 5, sz: (at % 7) + 1 }]),
    )
    const { time } = many.at(-1)!
    filed = { files: [{ level: 0, blocks: many.slice(3_000, 12_000) }] }
    world.held = { head: { height: 12_001, time }, since: many[11_990]!, runs: [many.slice(11_990)] }
    const all = truth(many, '1m')
    world.upstream = (_, body) => {
      const { startTime, endTime = 8e15 } = JSON.parse(body).req
      return ok(JSON.stringify(all.filter(({ t, T }) => T >= startTime && t <= endTime).slice(-5_000)))
    }
    const seen: Candle[] = []
    const lengths: number[] = []
    for (let startTime = T0; ; ) {
      const { body } = await ask({ startTime })
      seen.push(...body)
      lengths.push(body.length)
      if (body.length < 5_000) break
      startTime = body.at(-1).T + 1
    }
    expect(lengths).toEqual([5_000, 5_000, 2_001])
    expect(seen).toEqual(all)
  })

  // Field test T2
  it('of minutes without trades has the rows of the exchange, for every coin', async () => {
    const STEP = MINUTE / 2
    const engine = createEngine(3)
    const blocks = Array.from({ length: 120 }, (_, at): TradedBlock => {
      const time = T0 + at * STEP
      const fills = engine.step(BigInt(time) * 1_000_000n).fills as UserFill[]
      return { height: at + 1, time, fills, ledger: [], funding: [] }
    })
    const head = { height: 120, time: blocks[119]!.time }
    const kept = { blocks, head, logFrom: 71, filesTo: 80, filesFrom: 1 }
    filed = { files: [{ level: 0, blocks: blocks.slice(0, 80) }] }
    const candles = async (request: Parameters<typeof filedCandles>[1]) => filedCandles(filed, request)
    world = createWorld({ files: { ...filesOf(() => kept), candles } })
    world.held = { head, since: blocks[70]!, runs: [blocks.slice(70)] }
    const quiet: string[] = []
    for (const { coin } of MARKETS)
      for (const interval of ['1m', '5m'] as const) {
        // The minute of the first block may have begun before it.
        const req = { coin, interval, startTime: T0 + INTERVAL_MS[interval], endTime: head.time }
        const { body, asked } = await ask(req)
        const exchange = handleInfo(engine, { type: 'candleSnapshot', req }) as { body: Candle[] }
        expect([coin, interval, body, asked]).toEqual([coin, interval, exchange.body, []])
        const starts = minutes(body)
        if (interval === '1m' && starts.some((at, index) => at - (starts[index - 1] ?? at) > 3)) quiet.push(coin)
      }
    expect(quiet.length).toBeGreaterThan(10)
  })

  it.each([false, true])(
    'has flat candles between trades only if the operator chose them (%s), in any window',
    async (isFlat) => {
      const MINUTES = [0, 3, 4, 10, 12]
      const blocks = Array.from({ length: 15 }, (_, at) =>
        tradedBlock(at + 1, T0 + at * MINUTE, MINUTES.includes(at) ? [{ px: 10 + at, sz: 100 }] : []),
      )
      const head = { height: 15, time: blocks[14]!.time }
      const ofAll = { blocks, head, logFrom: 11, filesTo: 12, filesFrom: 1 }
      filed = { files: [{ level: 0, blocks: blocks.slice(0, 12) }] }
      const candles = async (request: Parameters<typeof filedCandles>[1]) => filedCandles(filed, request)
      world = createWorld({ files: { ...filesOf(() => ofAll), candles }, hasFlatCandles: isFlat })
      world.held = { head, since: blocks[10]!, runs: [blocks.slice(10)] }
      world.upstream = () => ok('[]')
      // The minute of the first block may have begun before it.
      const expected = isFlat ? [3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : MINUTES.slice(1)
      for (let first = 3; first < 15; first++)
        for (let last = first; last < 15; last++) {
          const { body } = await ask({ startTime: T0 + first * MINUTE, endTime: T0 + (last + 1) * MINUTE - 1 })
          expect(minutes(body)).toEqual(expected.filter((minute) => minute >= first && minute <= last))
          for (const { t, o, n } of body as Candle[])
            if (n === 0) expect(o).toBe(`${10 + MINUTES.findLast((minute) => minute < (t - T0) / MINUTE)!}.0`)
        }
    },
  )
})
