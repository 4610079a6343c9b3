// Response shapes that a real exchange rarely gives: devnet gives each of them within minutes, consistent with its state
// and its other answers.

import { beforeAll, describe, expect, it } from 'vitest'
import { toScaled } from '../../src/core/decimal.ts'
import { createEngine, type Engine } from '../../src/devnet/engine.ts'
import { DEXES, marketOf } from '../../src/devnet/exchange/market.ts'
import { ARBITRAGEURS, GAMBLERS, MAIN_MAKERS } from '../../src/devnet/exchange/roles.ts'
import { handleInfo } from '../../src/devnet/info/info.ts'
import { l4Snapshot } from '../../src/devnet/info/l4-snapshot.ts'
import { INACTIVE_PXS } from '../../src/devnet/info/listing.ts'
import { queryOf } from '../../src/info/queries/catalogue.ts'

const BLOCKS = 2_500
let engine: Engine
/** Answers at a moment when each of these was seen. */
const seen = new Map<string, ReturnType<typeof ask>>()

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
function ask(request: { readonly type: string; readonly [field: string]: unknown }): any {
  const answer = handleInfo(engine, request)
  expect(answer.status).toBe(200)
  const body = JSON.parse(JSON.stringify((answer as { body: unknown }).body))
  queryOf(request.type)!.response().parse(body)
  return body
}
const address = (account: number) => engine.exchange.accounts[account]!.address

beforeAll(() => {
  engine = createEngine(1)
  for (let i = 0; i < BLOCKS; i++) {
    const { orderStatuses } = engine.step()
    for (const { status } of orderStatuses) if (status.includes('OpenInterestCap')) seen.set(status, status)
    if (i % 5 > 0) continue
    const [full] = ask({ type: 'perpsAtOpenInterestCap', dex: 'flx' })
    if (full !== undefined) seen.set('cap', [full, ask({ type: 'metaAndAssetCtxs', dex: 'flx' })])
    for (const account of GAMBLERS) {
      const state = ask({ type: 'clearinghouseState', user: address(account) })
      if (state.assetPositions.length > 0) seen.set('isolated', state)
    }
  }
})

describe('an inactive market', () => {
  it('trades at no scale', () => {
    expect([...INACTIVE_PXS.keys()].filter((coin) => marketOf(coin) !== undefined)).toEqual([])
  })

  it.each([
    ['LOOM', '', { isDelisted: true, onlyIsolated: true, marginMode: 'strictIsolated' }],
    ['flx:GAS', 'flx', { onlyIsolated: true, marginMode: 'noCross', growthMode: 'enabled' }],
  ])('%s is listed everywhere and empty everywhere', (coin, dex, flags) => {
    const [meta, contexts] = ask({ type: 'metaAndAssetCtxs', dex })
    const index = meta.universe.findIndex(({ name }: { name: string }) => name === coin)
    expect(meta.universe[index]).toMatchObject(flags)
    expect(contexts).toHaveLength(meta.universe.length)
    expect(contexts[index]).toMatchObject({ openInterest: '0.0', premium: null, midPx: null, impactPxs: null })
    expect(ask({ type: 'l2Book', coin })).toMatchObject({ coin, levels: [[], []] })
    expect(ask({ type: 'allMids', dex })[coin]).toBe(contexts[index].markPx)
    expect(ask({ type: 'fundingHistory', coin, startTime: 0 })).toEqual([])
    expect(ask({ type: 'candleSnapshot', req: { coin, interval: '1m', startTime: 0 } })).toEqual([])
    const books: [string, unknown][] = JSON.parse([...l4Snapshot(engine.exchange, true, false)].join(''))
    expect(books.find(([name]) => name === coin)).toEqual([coin, [[], []]])
  })
})

describe('margin', () => {
  it("has listed tables with ids of at least 50, and includes every market's table", () => {
    const { marginTables, universe } = ask({ type: 'meta' })
    expect(marginTables.map(([id]: [number]) => id >= 50)).toContain(true)
    for (const [id, table] of marginTables) expect(ask({ type: 'marginTable', id })).toEqual(table)
    for (const dex of DEXES)
      for (const { maxLeverage, marginTableId } of ask({ type: 'meta', dex }).universe)
        expect(ask({ type: 'marginTable', id: marginTableId, dex }).marginTiers[0].maxLeverage).toBe(maxLeverage)
    expect(universe.some(({ marginTableId }: { marginTableId: number }) => marginTableId >= 50)).toBe(true)
  })

  it('is isolated for a wallet with a single position', () => {
    const { marginSummary, crossMarginSummary, assetPositions, withdrawable } = seen.get('isolated')!
    const [{ position }] = assetPositions
    expect(position.leverage).toMatchObject({ type: 'isolated', rawUsd: marginSummary.totalRawUsd })
    expect([crossMarginSummary.accountValue, withdrawable]).toEqual(['0.0', '0.0'])
    expect(position.marginUsed).toBe(marginSummary.accountValue)
    const held = toScaled(position.positionValue) * (position.szi.startsWith('-') ? -1n : 1n)
    expect(toScaled(position.marginUsed)).toBe(held + toScaled(position.leverage.rawUsd))
  })

  it('is portfolio margin for one wallet, and unified for another', () => {
    const [portfolio, unified] = ARBITRAGEURS.map(address)
    expect(ask({ type: 'userAbstraction', user: portfolio })).toBe('portfolioMargin')
    expect(ask({ type: 'userAbstraction', user: unified })).toBe('unifiedAccount')
    const { portfolioMarginEnabled, balances } = ask({ type: 'spotClearinghouseState', user: portfolio })
    expect([portfolioMarginEnabled, balances[0].supplied]).toEqual([true, balances[0].total])
    const { tokenToAvailableAfterMaintenance } = ask({ type: 'spotClearinghouseState', user: unified })
    expect(tokenToAvailableAfterMaintenance.length).toBeGreaterThan(1)
    expect(Object.keys(ask({ type: 'spotClearinghouseState', user: address(MAIN_MAKERS[0]!) }))).toEqual(['balances'])
  })
})

describe('an open-interest cap', () => {
  it('is reached by one coin, whose positions then cannot grow', () => {
    const [coin, [meta, contexts]] = seen.get('cap')!
    const index = meta.universe.findIndex(({ name }: { name: string }) => name === coin)
    const { coinToOiCap } = ask({ type: 'perpDexLimits', dex: 'flx' })
    const cap = Number(new Map<string, string>(coinToOiCap).get(coin))
    expect(Number(contexts[index].openInterest) * Number(contexts[index].markPx)).toBeGreaterThanOrEqual(cap)
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(['positionIncreaseAtOpenInterestCapRejected', 'positionFlipAtOpenInterestCapRejected']),
    )
    for (const dex of ['', 'xyz']) expect(ask({ type: 'perpsAtOpenInterestCap', dex })).toEqual([])
  })
})

describe('deployed markets', () => {
  it('has a question with open and settled outcomes', () => {
    const { outcomes, questions, deployers } = ask({ type: 'outcomeMeta' })
    const open = outcomes.map(({ outcome }: { outcome: number }) => outcome)
    for (const { fallbackOutcome, namedOutcomes, settledNamedOutcomes } of questions) {
      expect(open).toContain(fallbackOutcome)
      for (const named of namedOutcomes) expect([...open, ...settledNamedOutcomes]).toContain(named)
      expect(open.filter((one: number) => settledNamedOutcomes.includes(one))).toEqual([])
    }
    expect([questions.length, deployers.length]).toEqual([1, 1])
  })
})
