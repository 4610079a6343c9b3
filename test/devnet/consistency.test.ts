// Every wallet's balance, positions and orders, recomputed from the node's files, equal the answers of every query.

import { beforeAll, describe, expect, it } from 'vitest'
import { fromScaled, toScaled } from '../../src/core/decimal.ts'
import { createEngine, type Engine } from '../../src/devnet/engine.ts'
import { amountOf, formatAmount, notional } from '../../src/devnet/exchange/fixed-point.ts'
import { DEXES, MARKETS, marketOf, TOKENS } from '../../src/devnet/exchange/market.ts'
import type { DevnetBlock, NodeFill } from '../../src/devnet/exchange/node-block.ts'
import { BUILDERS, TAKERS } from '../../src/devnet/exchange/roles.ts'
import { handleInfo } from '../../src/devnet/info/info.ts'

const BLOCKS = 1_000

/** Amounts by wallet and name: coins of perps, `dex:<name>` for perp cash, tokens for spot balances. */
class Accounts {
  readonly #amounts = new Map<string, bigint>()
  readonly #builderFees = new Map<string, bigint>()
  /**
   * Fills that do not start at the position where the previous ones ended, or report another one. Splitting also gives
   * outcome shares.
   */
  readonly wrongStarts: string[] = []

  of(user: string, name: string): bigint {
    return this.#amounts.get(`${user} ${name}`) ?? 0n
  }

  builderFees(builder: string): bigint {
    return this.#builderFees.get(builder) ?? 0n
  }

  #add(user: string, name: string, amount: bigint): void {
    this.#amounts.set(`${user} ${name}`, this.of(user, name) + amount)
  }

  /** The order of a block: trading and ledger first, then the rest of a liquidation, then funding. */
  apply(block: DevnetBlock, backstop: string): void {
    for (const [user, fill] of block.fills) this.#fill(user, fill)
    for (const { inner } of block.miscEvents)
      if ('LedgerUpdate' in inner) this.#ledger(inner.LedgerUpdate.users, inner.LedgerUpdate.delta)
    const seized = block.fills.filter(([user, { liquidation }]) => {
      return liquidation?.method === 'backstop' && liquidation.liquidatedUser === user
    })
    for (const [user, { coin }] of seized) {
      const dex = `dex:${DEXES[marketOf(coin)!.dex]}`
      this.#add(backstop, dex, this.of(user, dex))
      this.#add(user, dex, -this.of(user, dex))
    }
    for (const { inner } of block.miscEvents)
      if ('Funding' in inner)
        for (const { user, coin, funding_amount } of inner.Funding.deltas)
          this.#add(user, `dex:${DEXES[marketOf(coin)!.dex]}`, signed(funding_amount))
  }

  #fill(user: string, fill: NodeFill): void {
    const { kind, dex, token } = marketOf(fill.coin)!
    const sign = fill.side === 'B' ? 1n : -1n
    const sz = amountOf(fill.sz)
    const fee = signed(fill.fee)
    const ntl = notional(amountOf(fill.px), sz)
    if (fill.builder !== undefined)
      this.#builderFees.set(fill.builder, this.builderFees(fill.builder) + amountOf(fill.builderFee!))
    const start = this.of(user, kind === 'perp' ? fill.coin : TOKENS[token]!)
    if (kind !== 'outcome' && signed(fill.startPosition) !== start) this.wrongStarts.push(`${user} ${fill.tid}`)
    if (kind === 'perp') {
      if (fill.dir !== dirOf(start, start + sign * sz)) this.wrongStarts.push(`${user} ${fill.tid} ${fill.dir}`)
      this.#add(user, fill.coin, sign * sz)
      this.#add(user, `dex:${DEXES[dex]}`, -sign * ntl - fee)
      return
    }
    this.#add(user, TOKENS[token]!, sign * sz)
    this.#add(user, 'USDC', -sign * ntl)
    this.#add(user, fill.feeToken, -fee)
  }

  #ledger([first, second]: string[], delta: { type: string; [key: string]: unknown }): void {
    const amount = (key: string) => amountOf(String(delta[key]))
    const main = (user: string | undefined, usdc: bigint) => this.#add(user!, 'dex:', usdc)
    switch (delta.type) {
      case 'deposit':
        return main(first, amount('usdc'))
      case 'withdraw':
        return main(first, -amount('usdc') - amount('fee'))
      case 'internalTransfer':
        main(first, -amount('usdc') - amount('fee'))
        return main(second, amount('usdc'))
      case 'accountClassTransfer': {
        const toPerp = delta.toPerp === true ? 1n : -1n
        main(first, toPerp * amount('usdc'))
        return this.#add(first!, 'USDC', -toPerp * amount('usdc'))
      }
      case 'send': {
        const pocket = (dex: unknown) => (dex === 'spot' ? 'USDC' : `dex:${dex}`)
        this.#add(String(delta.user), pocket(delta.sourceDex), -amount('amount'))
        return this.#add(String(delta.destination), pocket(delta.destinationDex), amount('amount'))
      }
      case 'spotTransfer':
        this.#add(String(delta.user), String(delta.token), -amount('amount'))
        return this.#add(String(delta.destination), String(delta.token), amount('amount'))
      case 'spotGenesis':
        return this.#add(first!, String(delta.token), amount('amount'))
      case 'vaultCreate':
        main(first, -amount('usdc') - amount('fee'))
        return main(String(delta.vault), amount('usdc'))
      case 'vaultDeposit':
        main(first, -amount('usdc'))
        return main(String(delta.vault), amount('usdc'))
      case 'vaultWithdraw':
        main(String(delta.user), amount('netWithdrawnUsd'))
        return main(String(delta.vault), -amount('requestedUsd'))
      case 'vaultLeaderCommission':
        return main(String(delta.user), amount('usdc'))
      case 'rewardsClaim':
        this.#add(first!, 'claimed', amount('amount'))
        return this.#add(first!, String(delta.token), amount('amount'))
      case 'subAccountTransfer':
        main(String(delta.user), -amount('usdc'))
        return main(String(delta.destination), amount('usdc'))
      case 'perpDexClassTransfer': {
        const toPerp = delta.toPerp === true ? 1n : -1n
        this.#add(first!, `dex:${delta.dex}`, toPerp * amount('amount'))
        return this.#add(first!, 'USDC', -toPerp * amount('amount'))
      }
      case 'accountActivationGas':
      case 'deployGasAuction':
        return this.#add(first!, String(delta.token), -amount('amount'))
      case 'vaultDistribution':
        main(String(delta.vault), -amount('usdc'))
        return main(first, amount('usdc'))
      case 'borrowLend': {
        const paid = amount('amount')
        const interest = amount('interestAmount')
        const out = delta.operation === 'supply' || delta.operation === 'repay'
        const more = delta.operation === 'repay' ? -interest : interest
        return this.#add(first!, String(delta.token), (out ? -paid : paid) + more)
      }
      case 'liquidation':
      case 'cStakingTransfer':
        return
      default:
        throw new Error(`a ledger update that nobody counts: ${delta.type}`)
    }
  }
}

function dirOf(start: bigint, end: bigint): string {
  const isLong = start === 0n ? end > 0n : start > 0n
  if (start !== 0n && end !== 0n && end > 0n !== isLong) return isLong ? 'Long > Short' : 'Short > Long'
  return `${end > start === isLong ? 'Open' : 'Close'} ${isLong ? 'Long' : 'Short'}`
}

const signed = (text: string) => (text.startsWith('-') ? -amountOf(text.slice(1)) : amountOf(text))

describe.each([2, 7, 19])('the exchange of seed %i', (seed) => {
  let engine: Engine
  const counted = new Accounts()
  const users: string[] = []

  beforeAll(() => {
    engine = createEngine(seed, { fundingBlocks: 200 })
    for (let i = 0; i < BLOCKS; i++) {
      const block = engine.step()
      counted.apply(block, engine.exchange.accounts[engine.exchange.vaults[0]!.account]!.address)
    }
    users.push(...engine.exchange.accounts.map(({ address }) => address))
  })

  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
  function ask(request: object): any {
    const answer = handleInfo(engine, request)
    expect(answer.status).toBe(200)
    return JSON.parse(JSON.stringify((answer as { body: unknown }).body))
  }

  it('has the positions and cash that fills, funding and ledger add up to', () => {
    expect(counted.wrongStarts).toEqual([])
    for (const user of users)
      for (const dex of DEXES) {
        const state = ask({ type: 'clearinghouseState', user, dex })
        const shown = new Map<string, string>(
          state.assetPositions.map((one: { position: { coin: string; szi: string } }) => [
            one.position.coin,
            one.position.szi,
          ]),
        )
        for (const { coin, kind, dex: on } of MARKETS)
          if (kind === 'perp' && DEXES[on] === dex)
            expect(shown.get(coin) ?? '0.0', `${user} ${coin}`).toBe(formatAmount(counted.of(user, coin)))
        expect(state.marginSummary.totalRawUsd, `${user} on ${dex}`).toBe(formatAmount(counted.of(user, `dex:${dex}`)))
      }
  })

  it('is worth its cash and its positions at mark prices', () => {
    for (const dex of DEXES) {
      const [meta, contexts] = ask({ type: 'metaAndAssetCtxs', dex })
      const marks = new Map<string, string>(
        meta.universe.map(({ name }: { name: string }, i: number) => [name, contexts[i].markPx]),
      )
      for (const user of users) {
        const { marginSummary, assetPositions } = ask({ type: 'clearinghouseState', user, dex })
        let value = toScaled(marginSummary.totalRawUsd)
        let ntl = 0n
        for (const { position } of assetPositions) {
          const size = amountOf(position.szi.replace('-', ''))
          expect(position.positionValue).toBe(formatAmount(notional(amountOf(marks.get(position.coin)!), size)))
          const held = toScaled(position.positionValue)
          value += position.szi.startsWith('-') ? -held : held
          ntl += held
        }
        expect(marginSummary.accountValue).toBe(fromScaled(value))
        expect(marginSummary.totalNtlPos).toBe(fromScaled(ntl))
      }
    }
  })

  it('has the spot balances that fills and ledger add up to', () => {
    for (const user of users) {
      const { balances } = ask({ type: 'spotClearinghouseState', user })
      const shown = new Map<string, string>(
        balances.map((one: { coin: string; total: string }) => [one.coin, one.total]),
      )
      const missing = (token: string) => amountOf(shown.get(token) ?? '0') - counted.of(user, token)
      // No event reports that USDC was split into both sides of an outcome: both sides must have grown by the amount
      // paid.
      const split = missing('+40')
      expect([missing('+41'), missing('USDC'), missing('PURR'), missing('HFUN')], user).toEqual([split, -split, 0n, 0n])
    }
  })

  it('owes builders the fees of their fills', () => {
    for (const account of BUILDERS) {
      const builder = users[account]!
      const unclaimed = engine.exchange.pools.builderFees.get(account) ?? 0n
      expect(counted.builderFees(builder)).toBe(counted.of(builder, 'claimed') + unclaimed)
    }
    expect(BUILDERS.some((account) => counted.builderFees(users[account]!) > 0n)).toBe(true)
  })

  it('has consistent fills: each starts where the previous one ended, and the last ends at the position', () => {
    for (const account of TAKERS.slice(0, 8)) {
      const user = users[account]!
      const fills: NodeFill[] = ask({ type: 'userFills', user }).reverse()
      const ends = new Map<string, bigint>()
      for (const { coin, startPosition, sz, side } of fills.filter((fill) => marketOf(fill.coin)!.kind === 'perp')) {
        const start = toScaled(startPosition)
        expect(start).toBe(ends.get(coin) ?? start)
        ends.set(coin, start + toScaled(sz) * (side === 'B' ? 1n : -1n))
      }
      const held = DEXES.flatMap((dex) => ask({ type: 'clearinghouseState', user, dex }).assetPositions)
      const szi = new Map<string, string>(held.map(({ position }) => [position.coin, position.szi]))
      for (const [coin, end] of ends) expect(szi.get(coin) ?? '0.0').toBe(fromScaled(end))
    }
  })

  it('shows the same orders in every query, and reserves the cost of spot orders', () => {
    for (const user of users) {
      const holds = new Map<string, bigint>()
      for (const dex of DEXES) {
        const open = ask({ type: 'openOrders', user, dex })
        const full = ask({ type: 'frontendOpenOrders', user, dex })
        expect(full.map(({ oid, sz, limitPx }: Record<string, string>) => [oid, sz, limitPx])).toEqual(
          open.map(({ oid, sz, limitPx }: Record<string, string>) => [oid, sz, limitPx]),
        )
        for (const order of full.slice(0, 3))
          expect(ask({ type: 'orderStatus', user, oid: order.oid })).toMatchObject({
            status: 'order',
            order: { order, status: 'open' },
          })
        for (const { coin, side, limitPx, sz } of full) {
          const { kind, token } = marketOf(coin)!
          if (kind === 'perp') continue
          const [name, amount] =
            side === 'B' ? ['USDC', notional(amountOf(limitPx), amountOf(sz))] : [TOKENS[token]!, amountOf(sz)]
          holds.set(name, (holds.get(name) ?? 0n) + amount)
        }
      }
      for (const { coin, hold } of ask({ type: 'spotClearinghouseState', user }).balances)
        expect(hold, `${user} ${coin}`).toBe(formatAmount(holds.get(coin) ?? 0n))
    }
  })

  it('has books for listed outcomes, whose sides add up to 1', () => {
    const { outcomes, questions } = ask({ type: 'outcomeMeta' })
    for (const { outcome, sideSpecs } of outcomes) {
      const mids = ask({ type: 'allMids' })
      const sides = sideSpecs.map((_: object, i: number) => `#${10 * outcome + i}`)
      const quoted = questions.every((question: { fallbackOutcome: number }) => question.fallbackOutcome !== outcome)
      for (const coin of sides)
        expect(ask({ type: 'l2Book', coin }).levels.map((side: object[]) => side.length > 0)).toEqual([quoted, quoted])
      expect(sides.reduce((sum: number, coin: string) => sum + Number(mids[coin]), 0)).toBeCloseTo(1, 1)
    }
  })
})
