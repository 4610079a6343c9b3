// Every query of the upstream: it answers, and what one answer says fits what the others and the state say.

import { beforeAll, describe, expect, it } from 'vitest'
import { toScaled } from '../../src/core/decimal.ts'
import { createEngine, type Engine } from '../../src/devnet/engine.ts'
import { formatAmount } from '../../src/devnet/exchange/fixed-point.ts'
import { MULTI_SIG, SUB_ACCOUNTS } from '../../src/devnet/exchange/identities.ts'
import { DEXES, MARKETS, perpsOf } from '../../src/devnet/exchange/market.ts'
import type { NodeFill } from '../../src/devnet/exchange/node-block.ts'
import { BUILDERS, MAIN_MAKERS, STAKERS, TAKERS, TWAPPERS } from '../../src/devnet/exchange/roles.ts'
import { SMALL } from '../../src/devnet/exchange/scale.ts'
import { vaultEquity } from '../../src/devnet/exchange/vault.ts'
import { answerInfo } from '../../src/devnet/info/info.ts'
import { spotMeta } from '../../src/devnet/info/market.ts'
import { InfoRequest, type StateRequest } from '../../src/devnet/info/request.ts'

const BLOCKS = 3_000
/** Token id that spotMeta has for it. */
const USDC = spotMeta({ scale: SMALL }).tokens[0]!.tokenId
let engine: Engine
/** Fills of the blocks, by wallet, as the files have them. */
const fills = new Map<string, NodeFill[]>()
const address = (account: number) => engine.exchange.accounts[account]!.address

beforeAll(() => {
  engine = createEngine(3, { fundingBlocks: 250 })
  for (let i = 0; i < BLOCKS; i++)
    for (const [user, fill] of engine.step().fills) fills.set(user, [...(fills.get(user) ?? []), fill])
})

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
function ask(request: object): any {
  const answer = answerInfo(engine, InfoRequest.parse(request) as StateRequest)
  expect(answer.status).toBe(200)
  return JSON.parse(JSON.stringify((answer as { body: unknown }).body))
}
const refused = (request: object) => answerInfo(engine, InfoRequest.parse(request) as StateRequest)
const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + toScaled(amount), 0n)
const fall = (rows: readonly { time: number }[]) => rows.every(({ time }, i) => i === 0 || time <= rows[i - 1]!.time)

describe('markets', () => {
  it('contexts stand beside the markets, and what is long is short', () => {
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

  it('volume of the day is what was traded', () => {
    const [, contexts] = ask({ type: 'metaAndAssetCtxs' })
    const all = [...fills.values()].flat()
    for (const i of [0, 1, 5]) {
      const sizes = all.filter(({ coin }) => coin === MARKETS[i]!.coin).map(({ sz }) => sz)
      expect(2n * toScaled(contexts[i].dayBaseVlm)).toBe(sum(sizes))
    }
  })

  it('spot supply is what wallets hold', () => {
    const [meta, contexts] = ask({ type: 'spotMetaAndAssetCtxs' })
    expect(meta).toEqual(ask({ type: 'spotMeta' }))
    expect(contexts.map(({ coin }: { coin: string }) => coin)).toEqual(['PURR/USDC', '@1'])
    const balances = engine.exchange.accounts.flatMap(
      ({ address: user }) => ask({ type: 'spotClearinghouseState', user }).balances,
    )
    const purr = balances.filter(({ coin }: { coin: string }) => coin === 'PURR').map(({ total }) => total)
    expect(toScaled(contexts[0].circulatingSupply)).toBe(sum(purr))
  })

  it('lists, limits and tables', () => {
    expect(ask({ type: 'allPerpMetas' })).toEqual(DEXES.map((dex) => ask({ type: 'meta', dex })))
    expect(ask({ type: 'perpDexLimits', dex: 'xyz' }).coinToOiCap.map(([coin]: [string]) => coin)).toEqual(
      perpsOf(1, MARKETS).map(({ coin }) => coin),
    )
    expect(ask({ type: 'perpDexLimits', dex: '' })).toBeNull()
    expect(ask({ type: 'perpDexLimits', dex: 'nope' })).toBeNull()
    expect(ask({ type: 'marginTable', id: 40 })).toEqual({
      description: '',
      marginTiers: [{ lowerBound: '0.0', maxLeverage: 40 }],
    })
    expect(refused({ type: 'marginTable', id: 57 })).toEqual({ status: 500, body: null })
    const ntls = ask({ type: 'maxMarketOrderNtls' })
    expect(ntls).toEqual([...ntls].sort(([a], [b]) => b - a))
    const [outcome] = ask({ type: 'outcomeMeta' }).outcomes
    expect(MARKETS.map(({ coin }) => coin)).toContain(`#${outcome.outcome * 10 + 1}`)
  })

  it('names a wallet as liquidatable that is below its margin', () => {
    const other = createEngine(3)
    for (let i = 0; i < 100; i++) other.step()
    expect(answerInfo(other, { type: 'liquidatable' })).toMatchObject({ status: 200 })
    const account = other.exchange.accounts[MAIN_MAKERS[0]!]!
    account.margin[0]!.rawUsd -= 10n ** 18n
    expect(answerInfo(other, { type: 'liquidatable' })).toMatchObject({ body: [{ user: account.address }] })
  })

  it('funding rates are those that were paid', () => {
    const rows = ask({ type: 'fundingHistory', coin: 'BTC', startTime: 0 })
    expect(rows).toHaveLength(BLOCKS / 250)
    expect(rows.at(-1).time).toBe(engine.exchange.block.timeMs)
    expect(ask({ type: 'fundingHistory', coin: 'BTC', startTime: rows[2].time, endTime: rows[4].time })).toEqual(
      rows.slice(2, 5),
    )
    expect(refused({ type: 'fundingHistory', coin: '@1', startTime: 0 })).toEqual({ status: 500, body: null })
  })
})

describe('fills and orders', () => {
  it('fills are those of the files, newest first or by time', () => {
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

  it('joined fills have the same size and fees', () => {
    const user = address(MAIN_MAKERS[0]!)
    const whole = ask({ type: 'userFills', user })
    const joined = ask({ type: 'userFills', user, aggregateByTime: true })
    expect(whole.length).toBeLessThanOrEqual(2_000)
    expect(joined.length).toBeLessThan(whole.length)
    const of = (key: 'sz' | 'fee' | 'closedPnl') => (fill: Record<typeof key, string>) => fill[key]
    for (const key of ['sz', 'fee', 'closedPnl'] as const)
      expect(sum(joined.map(of(key)))).toBe(sum(whole.map(of(key))))
  })

  it('TWAP slices name their TWAP outside the fill', () => {
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

  it('orders agree across their queries', () => {
    const user = address(MAIN_MAKERS[1]!)
    const open = ask({ type: 'openOrders', user })
    const full = ask({ type: 'frontendOpenOrders', user })
    expect(full.map((o: object) => ({ ...o, cloid: undefined }))).toMatchObject(
      open.map((o: object) => ({ ...o, cloid: undefined })),
    )
    expect(ask({ type: 'orderStatus', user, oid: open.at(-1).oid })).toMatchObject({
      status: 'order',
      order: { status: 'open', order: { oid: open.at(-1).oid, sz: open.at(-1).sz } },
    })
    const { cloid } = full.find((o: { cloid: string | null }) => o.cloid !== null)
    expect(ask({ type: 'orderStatus', user, oid: cloid }).order.order.cloid).toBe(cloid)
    expect(ask({ type: 'orderStatus', user, oid: 1 })).toEqual({ status: 'unknownOid' })
  })

  it('history has every order once, newest first, open ones as they are', () => {
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
  it('volumes follow from fills', () => {
    const user = address(TAKERS[0]!)
    const { dailyUserVlm, userCrossRate } = ask({ type: 'userFees', user })
    const total = dailyUserVlm.flatMap((day: { userCross: string; userAdd: string }) => [day.userCross, day.userAdd])
    const { cumVlm, nRequestsCap, nRequestsUsed } = ask({ type: 'userRateLimit', user })
    expect(sum(total)).toBe(toScaled(cumVlm))
    expect([nRequestsCap, userCrossRate]).toEqual([10_000 + Math.floor(Number(cumVlm)), '0.00045'])
    expect(nRequestsUsed).toBeGreaterThan(0)
    const traded = fills.get(user)!.map(({ px, sz }) => Number(px) * Number(sz))
    expect(Number(cumVlm)).toBeCloseTo(
      traded.reduce((a, b) => a + b, 0),
      3,
    )
    expect(ask({ type: 'userFees', user: address(MAIN_MAKERS[0]!) }).userAddRate).toBe('-0.00003')
  })

  it('roles fit sub-accounts, agents, signers and vaults', () => {
    const role = (user: string) => ask({ type: 'userRole', user })
    for (const { master, account } of SUB_ACCOUNTS) {
      const user = address(account)
      expect(role(user)).toEqual({ role: 'subAccount', data: { master: address(master) } })
      const subs = ask({ type: 'subAccounts', user: address(master) })
      expect(subs.find((sub: { subAccountUser: string }) => sub.subAccountUser === user)).toMatchObject({
        master: address(master),
        clearinghouseState: ask({ type: 'clearinghouseState', user }),
        spotState: ask({ type: 'spotClearinghouseState', user }),
      })
      expect(ask({ type: 'subAccounts', user })).toBeNull()
    }
    const [agent] = ask({ type: 'extraAgents', user: address(MAIN_MAKERS[0]!) })
    expect(role(agent.address)).toEqual({ role: 'agent', data: { user: address(MAIN_MAKERS[0]!) } })
    const signers = ask({ type: 'userToMultiSigSigners', user: address(MULTI_SIG.account) })
    for (const user of signers.authorizedUsers) expect(role(user).role).not.toBe('missing')
    expect(ask({ type: 'userToMultiSigSigners', user: address(TAKERS[0]!) })).toBeNull()
    expect(role(ask({ type: 'vaultSummaries' })[0].vaultAddress)).toEqual({ role: 'vault' })
    expect(role(`0x${'9'.repeat(40)}`)).toEqual({ role: 'missing' })
    expect(ask({ type: 'userAbstraction', user: address(0) })).toBe('disabled')
  })

  it("a builder's fee is what its fills were charged", () => {
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

describe('vaults', () => {
  it('what followers have adds up to what the vault is worth', () => {
    for (const { vaultAddress, tvl, leader } of ask({ type: 'vaultSummaries' })) {
      const vault = ask({ type: 'vaultDetails', vaultAddress, user: leader })
      const parts = vault.followers.map(({ vaultEquity: equity }: { vaultEquity: string }) => equity)
      expect(Math.abs(Number(sum(parts) - toScaled(tvl)))).toBeLessThan(1e12)
      expect(vault.followerState.vaultEquity).toBe(
        vault.followers.find(({ user }: { user: string }) => user === 'Leader').vaultEquity,
      )
      const equities = ask({ type: 'userVaultEquities', user: leader })
      expect(equities).toContainEqual(
        expect.objectContaining({ vaultAddress, equity: vault.followerState.vaultEquity }),
      )
      expect(ask({ type: 'leadingVaults', user: leader })).toContainEqual({ address: vaultAddress, name: vault.name })
      expect(vault.portfolio.map(([name]: [string]) => name)).toHaveLength(8)
      expect(vault.portfolio[3][1].accountValueHistory.length).toBeGreaterThan(0)
    }
    const backstop = engine.exchange.vaults[0]!
    expect(ask({ type: 'vaultSummaries' })[0].tvl).toBe(formatAmount(vaultEquity(engine.exchange, backstop)))
    expect(ask({ type: 'vaultDetails', vaultAddress: address(0) })).toBeNull()
  })
})

describe('staking', () => {
  it('history and rewards add up to what is staked', () => {
    const staked = STAKERS.filter((account) => {
      const user = address(account)
      const { delegated, undelegated, totalPendingWithdrawal } = ask({ type: 'delegatorSummary', user })
      const delegations = ask({ type: 'delegations', user }).map(({ amount }: { amount: string }) => amount)
      expect(sum(delegations)).toBe(toScaled(delegated))
      const history = ask({ type: 'delegatorHistory', user })
      const rewards = ask({ type: 'delegatorRewards', user })
      expect(fall(history) && fall(rewards)).toBe(true)
      let net = sum(rewards.map(({ totalAmount }: { totalAmount: string }) => totalAmount))
      for (const { delta } of history) {
        net += toScaled(delta.cDeposit?.amount ?? '0')
        if (delta.withdrawal?.phase === 'finalized') net -= toScaled(delta.withdrawal.amount)
      }
      expect(sum([delegated, undelegated, totalPendingWithdrawal])).toBe(net)
      return delegations.length > 0
    })
    expect(staked.length).toBeGreaterThan(0)
    const commissions = BUILDERS.flatMap((account) => ask({ type: 'delegatorRewards', user: address(account) }))
    expect(commissions.some(({ source }) => source === 'commission')).toBe(true)
  })

  it('a vote is open', () => {
    const [vote] = ask({ type: 'validatorL1Votes' })
    expect(vote.expireTime).toBeGreaterThan(engine.exchange.block.timeMs)
    expect(new Set(vote.votes).size).toBe(vote.votes.length)
  })
})

describe('a fresh exchange', () => {
  it('answers before its first block', () => {
    engine = createEngine(9)
    const user = address(0)
    const types = InfoRequest.options.flatMap((option) => {
      const { type } = option.shape
      return 'options' in type ? type.options : [type.value]
    })
    for (const type of types) {
      if (type === 'fileSnapshot') continue
      const req = { coin: 'BTC', interval: '1m', startTime: 0 }
      const users = { user, builder: user, vaultAddress: user, source: user }
      const names = { coin: 'BTC', oid: 1, id: 5, token: 0, tokenId: USDC, outcome: 0, venue: 'out' }
      const request = { type, ...users, ...names, startTime: 0, req }
      expect(refused(request).status, type).toBe(200)
    }
  })
})
