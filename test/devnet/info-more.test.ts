// The queries beyond the specification: what they answer follows from the blocks, and fits what the others say.

import { beforeAll, describe, expect, it } from 'vitest'
import { fromScaled, toScaled } from '../../src/core/decimal.ts'
import { createEngine, type Engine } from '../../src/devnet/engine.ts'
import { DEXES, MARKETS, perpsOf } from '../../src/devnet/exchange/market.ts'
import type { DevnetBlock } from '../../src/devnet/exchange/node-block.ts'
import { BUILDERS, STAKERS, TAKERS, TWAPPERS } from '../../src/devnet/exchange/roles.ts'
import { answerInfo } from '../../src/devnet/info/info.ts'
import { Past } from '../../src/devnet/info/past.ts'
import { InfoRequest, type StateRequest } from '../../src/devnet/info/request.ts'
import { queryOf } from '../../src/info/catalogue.ts'

let engine: Engine
let fills: DevnetBlock['fills'] = []
const funding = new Map<string, unknown[]>()

beforeAll(() => {
  engine = createEngine(3, { fundingBlocks: 250 })
  for (let i = 0; i < 3_000; i++) {
    const block = engine.step()
    fills = [...fills, ...block.fills].slice(-20_000)
    for (const { inner } of block.miscEvents)
      for (const { user, coin, funding_amount: usdc, szi } of 'Funding' in inner ? inner.Funding.deltas : [])
        funding.set(user, [...(funding.get(user) ?? []), { time: block.timeMs, coin, usdc, szi }])
  }
})

const users = () => engine.exchange.accounts.map(({ address }) => address)
const address = (account: number) => engine.exchange.accounts[account]!.address
const refused = (request: object, scene: Pick<Engine, 'exchange' | 'past'> = engine) =>
  answerInfo(scene, InfoRequest.parse(request) as StateRequest)
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
function ask(request: object, scene?: Pick<Engine, 'exchange' | 'past'>): any {
  const answer = refused(request, scene)
  expect(answer.status).toBe(200)
  return JSON.parse(JSON.stringify((answer as { body: unknown }).body))
}
const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + toScaled(amount), 0n)

describe('trades and orders', () => {
  it('recent trades are the last ten that filled, newest first', () => {
    for (const coin of ['BTC', 'xyz:GOLD', '@1']) {
      const mine = fills.filter(([, fill]) => fill.coin === coin && fill.crossed).slice(-10)
      const rows = ask({ type: 'recentTrades', coin })
      expect(rows.map(({ tid }: { tid: number }) => tid)).toEqual(mine.map(([, { tid }]) => tid).reverse())
      const [taker, { side, px, sz, time, hash, tid }] = mine.at(-1)!
      expect(rows[0]).toMatchObject({ coin, side, px, sz, time, hash, tid })
      expect(rows[0].users[side === 'B' ? 0 : 1]).toBe(taker)
    }
  })

  it('a TWAP order begins, and ends with what its slices traded', () => {
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

  it('what a wallet can trade is its free margin at its leverage', () => {
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

  it.each(['LOOM', 'flx:GAS'])('what a wallet can trade of %s, which nobody trades, is told all the same', (coin) => {
    const query = queryOf('activeAssetData')!
    for (const user of users().slice(0, 10)) {
      const told = ask({ type: 'activeAssetData', user, coin })
      query.response.parse(told)
      expect(Number(told.maxTradeSzs[0]) * Number(told.markPx)).toBeLessThanOrEqual(
        Number(told.availableToTrade[0]) * told.leverage.value + 1e-6,
      )
    }
  })
})

describe('money', () => {
  it('funding is what the blocks paid, in its window, oldest first', () => {
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
    const fundings = ask({ type: 'predictedFundings' })
    const [, contexts] = ask({ type: 'metaAndAssetCtxs' })
    fundings.forEach(([coin, venues]: [string, [string, never][]], i: number) => {
      expect(coin).toBe(MARKETS[i]!.coin)
      const ours = new Map(venues).get('HlPerp') as never as { fundingRate: string; nextFundingTime: number }
      expect(ours.fundingRate).toBe(contexts[i].funding)
      expect(ours.nextFundingTime).toBeGreaterThan(engine.exchange.block.timeMs)
    })
  })

  it('a portfolio ends with what the account is worth, and what nobody paid in or out was won', () => {
    let quiet = 0
    for (const user of users()) {
      const portfolio = ask({ type: 'portfolio', user })
      expect(portfolio.map(([name]: [string]) => name)).toHaveLength(8)
      const all = Object.fromEntries(portfolio)
      const value = sum(DEXES.map((dex) => ask({ type: 'clearinghouseState', user, dex }).marginSummary.accountValue))
      expect(toScaled(all.perpAllTime.accountValueHistory.at(-1)[1])).toBe(value)
      const { vlm, accountValueHistory: values, pnlHistory: won } = all.allTime
      expect(Math.abs(Number(vlm) - Number(ask({ type: 'userRateLimit', user }).cumVlm))).toBeLessThan(0.01)
      const moved = ask({ type: 'userNonFundingLedgerUpdates', user, startTime: values[0]?.[0] + 1 }).length > 0
      const isOutside = moved || engine.exchange.vaults.some(({ followers, account }) => followers.has(account))
      if (isOutside || values.length < 2 || Number(vlm) === 0) continue
      quiet++
      const change = Number(values.at(-1)[1]) - Number(values[0][1])
      expect(Math.abs(change - Number(won.at(-1)[1]))).toBeLessThan(0.01)
    }
    expect(quiet).toBeGreaterThan(3)
  })

  it('a token is what its pair says, and USDC what came in', () => {
    const [{ tokens }, contexts] = ask({ type: 'spotMetaAndAssetCtxs' })
    for (const { tokenId, name } of tokens) {
      const details = ask({ type: 'tokenDetails', tokenId })
      const context = contexts.find(({ coin }: { coin: string }) => coin.startsWith(`${name}/`))
      expect(details.name).toBe(name)
      if (context !== undefined)
        expect(details).toMatchObject({ markPx: context.markPx, circulatingSupply: context.circulatingSupply })
      expect(details.genesis === null).toBe(name === 'USDC')
      if (details.genesis !== null)
        expect(sum(details.genesis.userBalances.map(([, amount]: [string, string]) => amount))).toBe(
          toScaled(details.totalSupply),
        )
    }
    const onDexes = DEXES.map((dex) => ask({ type: 'perpDexStatus', dex }).totalNetDeposit)
    const values = users().flatMap((user) =>
      DEXES.map((dex) => ask({ type: 'clearinghouseState', user, dex }).marginSummary.accountValue),
    )
    expect(Math.abs(Number(fromScaled(sum(onDexes) - sum(values))))).toBeLessThan(0.01)
  })

  it('loans follow from the ledger', () => {
    const past = new Past(100)
    const scene = { exchange: engine.exchange, past }
    const user = address(0)
    const loan = (operation: string, amount: string, interestAmount: string) => {
      const delta = { type: 'borrowLend', token: 'USDC', operation, amount, interestAmount }
      const inner = { LedgerUpdate: { users: [user], delta } }
      const miscEvents = [{ time: '', hash: '0x', inner }]
      past.recall({ timeMs: 7, fills: [], orderStatuses: [], rewards: [], miscEvents })
    }
    loan('supply', '100.0', '0.0')
    loan('borrow', '50.0', '0.0')
    loan('repay', '30.0', '0.5')
    expect(ask({ type: 'borrowLendUserState', user }, scene)).toEqual({
      tokenToState: [[0, { borrow: { basis: '20.0', value: '20.0' }, supply: { basis: '100.0', value: '100.0' } }]],
      health: 'healthy',
      healthFactor: '5.0',
    })
    const reserve = ask({ type: 'borrowLendReserveState', token: 0 }, scene)
    expect(reserve).toMatchObject({
      balance: '80.0',
      utilization: '0.2',
      totalSupplied: '100.0',
      totalBorrowed: '20.0',
    })
    expect(ask({ type: 'allBorrowLendReserveStates' }, scene)[0]).toEqual([0, reserve])
    expect(ask({ type: 'userBorrowLendInterest', user, startTime: 0 }, scene)).toEqual([
      { time: 7, token: 'USDC', borrow: '0.5', supply: '0.0' },
    ])
    expect(ask({ type: 'userBorrowLendInterest', user, startTime: 8 }, scene)).toEqual([])
    expect(ask({ type: 'borrowLendUserState', user: address(1) }, scene).healthFactor).toBeNull()
  })
})

describe('who is who', () => {
  it('a builder has referred those whose fees it may charge', () => {
    for (const builder of BUILDERS.map(address)) {
      const { referrerState, builderRewards } = ask({ type: 'referral', user: builder })
      expect(referrerState.data.nReferrals).toBe(referrerState.data.referralStates.length)
      expect(Number(builderRewards)).toBeGreaterThanOrEqual(0)
      for (const { user, cumVlm } of referrerState.data.referralStates) {
        expect(ask({ type: 'approvedBuilders', user })).toEqual([builder])
        expect(ask({ type: 'maxBuilderFee', user, builder })).toBeGreaterThan(0)
        const own = ask({ type: 'referral', user })
        expect([own.referredBy.referrer, own.cumVlm]).toEqual([builder, cumVlm])
        expect(own.referredBy.code).toBe(referrerState.data.code)
      }
    }
    const stages = new Set(users().map((user) => ask({ type: 'referral', user }).referrerState.stage))
    expect(stages).toEqual(new Set(['ready', 'needToTrade', 'needToCreateCode']))
  })

  it('validators have what is delegated to them', () => {
    const validators = ask({ type: 'validatorSummaries' })
    const delegated = [...STAKERS, ...BUILDERS].flatMap((account) =>
      ask({ type: 'delegations', user: address(account) }),
    )
    for (const { validator, stake } of validators) {
      const mine = delegated.filter((one) => one.validator === validator).map(({ amount }) => amount)
      expect(fromScaled(sum(mine))).toBe(fromScaled(toScaled(String(stake)) / 100_000_000n))
    }
    expect(validators.some(({ stake }: { stake: number }) => stake > 0)).toBe(true)
  })

  it('sub-accounts have the states of all DEXes', () => {
    const user = address(TAKERS[0]!)
    const subs = ask({ type: 'subAccounts2', user })
    const plain = ask({ type: 'subAccounts', user })
    expect(
      subs.map(({ dexToClearinghouseState: states, ...rest }: { dexToClearinghouseState: [string, object][] }) => ({
        ...rest,
        clearinghouseState: new Map(states).get(''),
      })),
    ).toEqual(plain)
    expect(subs[0].dexToClearinghouseState.map(([dex]: [string]) => dex)).toEqual(DEXES)
    expect(ask({ type: 'subAccounts2', user: address(0) })).toBeNull()
  })

  it('what an address may do depends on whether it exists', () => {
    const user = address(TAKERS[0]!)
    const stranger = `0x${'9'.repeat(40)}`
    const check = (of: string) => ask({ type: 'preTransferCheck', user: of, source: user })
    expect(check(user)).toEqual({ fee: '0.0', isSanctioned: false, userExists: true, userHasSentTx: true })
    expect(check(stranger)).toEqual({ fee: '1.0', isSanctioned: false, userExists: false, userHasSentTx: false })
    expect([user, stranger].map((one) => ask({ type: 'legalCheck', user: one }).acceptedTerms)).toEqual([true, false])
    expect([address(0), user, stranger].map((one) => ask({ type: 'isVip', user: one }))).toEqual([true, false, null])
    expect([address(0), user].map((one) => ask({ type: 'userDexAbstraction', user: one }))).toEqual([false, null])
  })

  it('the bundle is what its parts say', () => {
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
    { type: 'borrowLendReserveState', token: 99 },
    { type: 'tokenDetails', tokenId: `0x${'0'.repeat(32)}` },
    { type: 'outcomeDeployerLimits', venue: 'no' },
  ])('%j names what does not exist', (request) => {
    expect(refused(request)).toEqual({ status: 500, body: null })
  })

  it('an outcome has ended or is open, and limits count the open ones', () => {
    const [{ outcome }] = ask({ type: 'outcomeMeta' }).outcomes
    expect(ask({ type: 'settledOutcome', outcome })).toBeNull()
    const { spec, settleFraction } = ask({ type: 'settledOutcome', outcome: 0 })
    expect([spec.outcome, ['0.0', '1.0'].includes(settleFraction)]).toEqual([0, true])
    expect(ask({ type: 'outcomeDeployerLimits', venue: 'out' }).nActiveOutcomesRemaining).toBe(99)
    const [template] = ask({ type: 'outcomeTemplates' })
    for (const [word] of template.keywords) expect(template.description).toContain(`{${word}}`)
  })

  it('annotations, in short and by category, are of the same perps', () => {
    const concise = ask({ type: 'perpConciseAnnotations' })
    expect(concise.map(([coin, { category }]: [string, { category: string }]) => [coin, category])).toEqual(
      ask({ type: 'perpCategories' }),
    )
    for (const [coin, annotation] of concise)
      expect(ask({ type: 'perpAnnotation', coin })).toEqual({ ...annotation, description: expect.any(String) })
    expect(ask({ type: 'perpAnnotation', coin: 'BTC' })).toBeNull()
  })

  it('every slot of the gossip has an auction, and a winner or none', () => {
    const [winners, auctions] = ask({ type: 'gossipPriorityAuctionStatus' })
    expect(winners).toHaveLength(auctions.length)
    expect(new Set(auctions.map(JSON.stringify)).size).toBe(auctions.length)
    expect(ask({ type: 'spotPairDeployAuctionStatus' })).not.toEqual(ask({ type: 'perpDeployAuctionStatus' }))
  })
})
