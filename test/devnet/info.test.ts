// Every query of the upstream is answered, and its answer agrees with the other answers and the state.

import { beforeAll, describe, expect, it } from 'vitest'
import { toScaled } from '../../src/core/decimal.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import { createEngine, type Engine } from '../../src/devnet/engine.ts'
import { DEXES, MARKETS, perpsOf } from '../../src/devnet/exchange/market.ts'
import type { DevnetBlock, NodeFill } from '../../src/devnet/exchange/node-block.ts'
import { BUILDERS, MAIN_MAKERS, TAKERS, TWAPPERS } from '../../src/devnet/exchange/roles.ts'
import { handleInfo } from '../../src/devnet/info/info.ts'
import { pastDay } from '../../src/devnet/info/past-day.ts'
import { queryOf } from '../../src/info/queries/catalogue.ts'

const BLOCKS = 3_000
/** Amounts of the exchange have 8 decimals, scaled ones 18. */
const SCALE = 10n ** 10n
let engine: Engine
let last: DevnetBlock['fills'] = []
/** Funding paid, by wallet. */
const funding = new Map<string, unknown[]>()
/** Fills of the blocks in the files, by wallet. */
const fills = new Map<string, NodeFill[]>()
const users = () => engine.exchange.accounts.map(({ address: of }) => of)
const address = (account: number) => engine.exchange.accounts[account]!.address

beforeAll(() => {
  engine = createEngine(3, { fundingBlocks: 250 })
  for (let i = 0; i < BLOCKS; i++) {
    const block = engine.step()
    last = [...last, ...block.fills].slice(-20_000)
    for (const [user, fill] of block.fills) fills.set(user, [...(fills.get(user) ?? []), fill])
    for (const { inner } of block.miscEvents)
      for (const { user, coin, funding_amount: usdc, szi } of 'Funding' in inner ? inner.Funding.deltas : [])
        funding.set(user, [...(funding.get(user) ?? []), { time: block.timeMs, coin, usdc, szi }])
  }
})

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
function ask(request: object): any {
  const answer = handleInfo(engine, request)
  expect(answer.status).toBe(200)
  return JSON.parse(JSON.stringify((answer as { body: unknown }).body))
}
const refused = (request: object) => handleInfo(engine, request)
const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + toScaled(amount), 0n)
const fall = (rows: readonly { time: number }[]) => rows.every(({ time }, i) => i === 0 || time <= rows[i - 1]!.time)

describe('markets', () => {
  it('contexts match the markets, and long equals short interest', () => {
    for (const dex of DEXES) {
      const [meta, contexts] = ask({ type: 'metaAndAssetCtxs', dex })
      expect(meta).toEqual(ask({ type: 'meta', dex }))
      expect(contexts).toHaveLength(meta.universe.length)
      for (const { midPx, impactPxs, oraclePx, markPx } of contexts) {
        expect(Math.abs(Number(markPx) / Number(oraclePx) - 1)).toBeLessThanOrEqual(0.01)
        if (midPx === null || impactPxs === null) continue
        expect(Number(impactPxs[0])).toBeLessThan(Number(midPx))
        expect(Number(impactPxs[1])).toBeGreaterThan(Number(midPx))
      }
    }
    const [meta, contexts] = ask({ type: 'metaAndAssetCtxs' })
    const held = new Map<string, bigint>()
    for (const { address: user } of engine.exchange.accounts)
      for (const { position } of ask({ type: 'clearinghouseState', user }).assetPositions)
        if (!position.szi.startsWith('-'))
          held.set(position.coin, (held.get(position.coin) ?? 0n) + toScaled(position.szi))
    meta.universe.forEach(({ name }: { name: string }, i: number) => {
      expect(toScaled(contexts[i].openInterest)).toBe(held.get(name) ?? 0n)
    })
    expect(ask({ type: 'perpsAtOpenInterestCap' })).toEqual([])
    expect(refused({ type: 'metaAndAssetCtxs', dex: 'nope' })).toEqual({ status: 500, body: null })
  })

  it('daily volume equals the trades and the day before them', () => {
    const [, contexts] = ask({ type: 'metaAndAssetCtxs' })
    const { seed, firstBlockMs, block } = engine.exchange
    const fromMs = Math.floor((block.timeMs - DAY_MS) / HOUR_MS) * HOUR_MS
    const all = [...fills.values()].flat()
    for (const i of [0, 1, 5]) {
      const sizes = all.filter(({ coin }) => coin === MARKETS[i]!.coin).map(({ sz }) => sz)
      const market = MARKETS[i]!
      const lots = pastDay(market, seed, firstBlockMs).reduce((all, { t, lots }) => all + (t < fromMs ? 0 : lots), 0)
      expect(2n * (toScaled(contexts[i].dayBaseVlm) - BigInt(lots) * market.lot * SCALE)).toBe(sum(sizes))
    }
  })

  it("spot supply equals the wallets' balances", () => {
    const [meta, contexts] = ask({ type: 'spotMetaAndAssetCtxs' })
    expect(meta).toEqual(ask({ type: 'spotMeta' }))
    expect(contexts.map(({ coin }: { coin: string }) => coin)).toEqual(['PURR/USDC', '@1'])
    const balances = engine.exchange.accounts.flatMap(
      ({ address: user }) => ask({ type: 'spotClearinghouseState', user }).balances,
    )
    const purr = balances.filter(({ coin }: { coin: string }) => coin === 'PURR').map(({ total }) => total)
    expect(toScaled(contexts[0].circulatingSupply)).toBe(sum(purr))
  })

  it('lists and limits', () => {
    expect(ask({ type: 'allPerpMetas' })).toEqual(DEXES.map((dex) => ask({ type: 'meta', dex })))
    expect(ask({ type: 'perpDexLimits', dex: 'xyz' }).coinToOiCap.map(([coin]: [string]) => coin)).toEqual(
      perpsOf(1, MARKETS).map(({ coin }) => coin),
    )
    expect(ask({ type: 'perpDexLimits', dex: '' })).toBeNull()
    expect(ask({ type: 'perpDexLimits', dex: 'nope' })).toBeNull()
    const [outcome] = ask({ type: 'outcomeMeta' }).outcomes
    expect(MARKETS.map(({ coin }) => coin)).toContain(`#${outcome.outcome * 10 + 1}`)
  })

  it('the funding rate is current', () => {
    const [{ universe }, contexts] = ask({ type: 'metaAndAssetCtxs' })
    const [row, ...more] = ask({ type: 'fundingHistory', coin: universe[0].name, startTime: 0 })
    expect([row.fundingRate, row.time, more]).toEqual([contexts[0].funding, engine.exchange.block.timeMs, []])
    expect(ask({ type: 'fundingHistory', coin: 'BTC', startTime: row.time + 1 })).toEqual([])
    expect(refused({ type: 'fundingHistory', coin: '@1', startTime: 0 })).toEqual({ status: 500, body: null })
  })
})

describe('fills and orders', () => {
  it('fills match the files, newest first or by time', () => {
    const user = address(TAKERS[0]!)
    const newest = ask({ type: 'userFills', user })
    const wanted = fills.get(user)!.map(({ builder: _b, deployerFee: _d, ...fill }) => fill)
    expect(newest).toEqual(wanted.toReversed())
    const last = newest[0].time
    const first = newest.at(-1).time
    expect(ask({ type: 'userFillsByTime', user, startTime: 0 })).toEqual(wanted)
    expect(ask({ type: 'userFillsByTime', user, startTime: 0, reversed: true })).toEqual(newest)
    const inside = ask({ type: 'userFillsByTime', user, startTime: first + 1, endTime: last - 1 })
    expect(inside.length).toBeLessThan(wanted.length)
    expect(ask({ type: 'userFills', user: `0x${'9'.repeat(40)}` })).toEqual([])
  })

  it('aggregated fills have the same total size and fees', () => {
    const user = address(MAIN_MAKERS[0]!)
    const whole = ask({ type: 'userFills', user })
    const joined = ask({ type: 'userFills', user, aggregateByTime: true })
    expect(whole.length).toBeLessThanOrEqual(2_000)
    expect(joined.length).toBeLessThan(whole.length)
    const of = (key: 'sz' | 'fee' | 'closedPnl') => (fill: Record<typeof key, string>) => fill[key]
    for (const key of ['sz', 'fee', 'closedPnl'] as const)
      expect(sum(joined.map(of(key)))).toBe(sum(whole.map(of(key))))
  })

  it('TWAP slices have the TWAP id outside the fill', () => {
    const slices = TWAPPERS.flatMap((account) => ask({ type: 'userTwapSliceFills', user: address(account) }))
    expect(slices.length).toBeGreaterThan(0)
    for (const { fill, twapId } of slices) {
      expect(fill.twapId).toBeNull()
      expect(twapId).toBeGreaterThan(0)
      expect(fill.hash).toMatch(/^0x0+$/)
    }
    const user = address(TWAPPERS[0]!)
    const all = ask({ type: 'userTwapSliceFills', user })
    expect(ask({ type: 'userTwapSliceFillsByTime', user, startTime: 0 })).toEqual(all)
  })

  it('an order is found by either id', () => {
    const user = address(MAIN_MAKERS[1]!)
    const full = ask({ type: 'frontendOpenOrders', user })
    const { cloid } = full.find((o: { cloid: string | null }) => o.cloid !== null)
    expect(ask({ type: 'orderStatus', user, oid: cloid }).order.order.cloid).toBe(cloid)
    expect(ask({ type: 'orderStatus', user, oid: 1 })).toEqual({ status: 'unknownOid' })
  })

  it('history has every order once, newest first, and open orders in their current state', () => {
    for (const account of [MAIN_MAKERS[0]!, TAKERS[3]!]) {
      const user = address(account)
      const rows = ask({ type: 'historicalOrders', user })
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.length).toBeLessThanOrEqual(2_000)
      expect(new Set(rows.map((row: { order: { oid: number } }) => row.order.oid)).size).toBe(rows.length)
      const open = new Map(ask({ type: 'frontendOpenOrders', user }).map((o: { oid: number }) => [o.oid, o]))
      for (const { order, status } of rows) expect(open.get(order.oid)).toEqual(status === 'open' ? order : undefined)
    }
  })
})

describe('wallets', () => {
  it("a builder's fee equals the fees of its fills", () => {
    const all = [...fills].flatMap(([user, list]) => list.map((fill) => ({ user, ...fill })))
    const routed = all.filter(({ builder }) => builder !== undefined)
    expect(routed.length).toBeGreaterThan(0)
    for (const { user, builder, builderFee, px, sz } of routed) {
      const f = ask({ type: 'maxBuilderFee', user, builder })
      expect(Number(builderFee)).toBeCloseTo((Number(px) * Number(sz) * f) / 100_000, 5)
    }
    expect(ask({ type: 'maxBuilderFee', user: address(0), builder: address(BUILDERS[0]!) })).toBe(0)
  })

  it('ledger updates are those of the wallet, oldest first', () => {
    const user = address(TAKERS[0]!)
    const rows = ask({ type: 'userNonFundingLedgerUpdates', user })
    expect(rows[0].delta.type).toBe('deposit')
    expect(fall(rows.toReversed())).toBe(true)
    expect(ask({ type: 'userNonFundingLedgerUpdates', user, startTime: rows[0].time + 1 })).toEqual(rows.slice(1))
  })
})

describe('trades and orders', () => {
  it('recent trades are the last ten that filled, newest first', () => {
    for (const coin of ['BTC', 'xyz:GOLD', '@1']) {
      const mine = last.filter(([, fill]) => fill.coin === coin && fill.crossed).slice(-10)
      const rows = ask({ type: 'recentTrades', coin })
      expect(rows.map(({ tid }: { tid: number }) => tid)).toEqual(mine.map(([, { tid }]) => tid).reverse())
      const [taker, { side, px, sz, time, hash, tid }] = mine.at(-1)!
      expect(rows[0]).toMatchObject({ coin, side, px, sz, time, hash, tid })
      expect(rows[0].users[side === 'B' ? 0 : 1]).toBe(taker)
    }
  })

  it('a TWAP order starts, and ends with the total of its slices', () => {
    const seen = { activated: 0, finished: 0 }
    for (const account of TWAPPERS) {
      const user = address(account)
      const slices = ask({ type: 'userTwapSliceFills', user })
      const rows = ask({ type: 'twapHistory', user })
      for (const { status, state, twapId, time } of rows) {
        seen[status.status as keyof typeof seen]++
        expect(Math.abs(time - state.timestamp / 1_000)).toBeLessThan(status.status === 'finished' ? 60 : 1)
        if (status.status !== 'finished') continue
        const traded = slices.filter((slice: { twapId: number }) => slice.twapId === twapId)
        expect(toScaled(state.executedSz)).toBe(sum(traded.map(({ fill }: { fill: { sz: string } }) => fill.sz)))
        expect(toScaled(state.executedSz)).toBeLessThanOrEqual(toScaled(state.sz))
      }
      expect(rows.toSorted((a: { time: number }, b: { time: number }) => b.time - a.time)).toEqual(rows)
    }
    expect(seen.finished).toBeGreaterThan(0)
    expect(seen.activated - seen.finished).toBe(engine.exchange.twaps.length)
  })

  it('the maximum trade size is the free margin times the leverage', () => {
    for (const user of users().slice(0, 60))
      for (const { coin, dex } of [MARKETS[0]!, perpsOf(1, MARKETS)[0]!]) {
        const state = ask({ type: 'clearinghouseState', user, dex: DEXES[dex] })
        const { leverage, availableToTrade, maxTradeSzs, markPx } = ask({ type: 'activeAssetData', user, coin })
        expect(availableToTrade[0]).toBe(state.withdrawable)
        const ntl = Number(maxTradeSzs[0]) * Number(markPx)
        expect(ntl).toBeLessThanOrEqual(Number(state.withdrawable) * leverage.value + 1e-6)
        const held = state.assetPositions.find((one: { position: { coin: string } }) => one.position.coin === coin)
        if (held !== undefined) expect(leverage).toEqual(held.position.leverage)
      }
  })

  it.each(['LOOM', 'flx:GAS'])('the maximum trade size exists for %s, which does not trade', (coin) => {
    const query = queryOf('activeAssetData')!
    for (const user of users().slice(0, 10)) {
      const told = ask({ type: 'activeAssetData', user, coin })
      query.response().parse(told)
      expect(Number(told.maxTradeSzs[0]) * Number(told.markPx)).toBeLessThanOrEqual(
        Number(told.availableToTrade[0]) * told.leverage.value + 1e-6,
      )
    }
  })
})

describe('money', () => {
  it("funding equals the blocks' payments in the window, oldest first", () => {
    expect(funding.size).toBeGreaterThan(10)
    for (const [user, paid] of funding) {
      const rows = ask({ type: 'userFunding', user })
      const told = rows.map(({ time, delta: { coin, usdc, szi } }: { time: number; delta: never }) => ({
        time,
        coin,
        usdc,
        szi,
      }))
      expect(told).toEqual(paid.slice(-500))
      const { time } = rows.at(-1)
      expect(ask({ type: 'userFunding', user, startTime: time + 1 })).toEqual([])
      expect(ask({ type: 'userFunding', user, endTime: time - 1 }).length).toBeLessThan(rows.length)
    }
  })
})

describe('who is who', () => {
  it('webData2 equals its parts', () => {
    const user = address(TWAPPERS[0]!)
    const data = ask({ type: 'webData2', user })
    const [meta, assetCtxs] = ask({ type: 'metaAndAssetCtxs' })
    expect(data).toMatchObject({ user, meta, assetCtxs, isVault: false })
    expect(data.clearinghouseState).toEqual(ask({ type: 'clearinghouseState', user }))
    expect(data.openOrders).toEqual(ask({ type: 'frontendOpenOrders', user }))
    expect(data.spotState).toEqual(ask({ type: 'spotClearinghouseState', user }))
    const running = TWAPPERS.flatMap((account) => ask({ type: 'webData2', user: address(account) }).twapStates)
    expect(running.map(([id]) => id).sort()).toEqual(engine.exchange.twaps.map(({ id }) => id).sort())
    const vault = engine.exchange.accounts[engine.exchange.vaults[0]!.account]!.address
    expect(ask({ type: 'webData2', user: vault }).isVault).toBe(true)
  })
})

describe('names', () => {
  it.each([
    { type: 'recentTrades', coin: 'NOPE' },
    { type: 'activeAssetData', coin: '@1', user: `0x${'9'.repeat(40)}` },
    { type: 'perpDexStatus', dex: 'nope' },
    { type: 'marginTable', id: 57 },
    { type: 'tokenDetails', tokenId: `0x${'0'.repeat(32)}` },
  ])('%j names something that does not exist', (request) => {
    expect(refused(request)).toEqual({ status: 500, body: null })
  })
})

describe('candles', () => {
  it('are returned if they overlap the window, and paginate by the last end', () => {
    const engine = createEngine(5)
    // More than four minutes, in blocks half a second apart.
    for (let i = 1; i <= 600; i++) engine.step(BigInt(i) * 500_000_000n + 1_770_000_000_000_000_000n)
    // biome-ignore lint/suspicious/noExplicitAny: looked at field by field
    const ask = (startTime: number, endTime?: number): any[] => {
      const req = { coin: 'BTC', interval: '1m', startTime, endTime } as const
      return (handleInfo(engine, { type: 'candleSnapshot', req }) as { body: object[] }).body
    }
    const all = ask(0)
    expect(all.length).toBeGreaterThan(3)
    expect(Object.keys(all[0]!)).toEqual(['t', 'T', 's', 'i', 'o', 'c', 'h', 'l', 'v', 'n'])
    expect(ask(all[1]!.T, all[2]!.t)).toEqual(all.slice(1, 3))
    expect(ask(all[1]!.T + 1)).toEqual(all.slice(2))
    const req = { coin: 'NOPE', interval: '1m', startTime: 0 } as const
    expect(handleInfo(engine, { type: 'candleSnapshot', req })).toEqual({ status: 500, body: null })
  })
})
