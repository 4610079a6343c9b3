// Rules of the simulated exchange: conservation at every block, the same blocks from the same seed, and a checkpoint
// without loss.

import { describe, expect, it } from 'vitest'
import { createEngine, type Engine, restoreEngine } from '../../src/devnet/engine.ts'
import { markPxs } from '../../src/devnet/exchange/exchange.ts'
import { STREAMS, streamLine } from '../../src/devnet/exchange/node-block.ts'
import { marginState } from '../../src/devnet/exchange/wallet.ts'
import { audit } from './audit.ts'

const text = (engine: Engine, blocks: number): string => {
  let out = ''
  for (let i = 0; i < blocks; i++) {
    const block = engine.step()
    for (const stream of STREAMS) out += `${streamLine(block, stream, block.time)}\n`
  }
  return out
}

describe('conservation', () => {
  it.each([1, 2 ** 40 + 5])('conserves money at every block (seed %i)', (seed) => {
    const engine = createEngine(seed, { fundingBlocks: 100 })
    for (let i = 0; i < 700; i++) {
      engine.step()
      // Every block while the order books fill, then every third: an imbalance does not disappear.
      if (i < 50 || i % 3 === 0) expect(audit(engine.exchange), `seed ${seed}, block ${engine.height}`).toEqual([])
    }
  })

  it('holds through thousands of blocks at constant cost', () => {
    const engine = createEngine(9, { fundingBlocks: 250 })
    let orders = 0
    for (let i = 0; i < 2_500; i++) {
      engine.step()
      if (i % 50 === 0) expect(audit(engine.exchange), `block ${engine.height}`).toEqual([])
      orders = engine.exchange.accounts.reduce((n, a) => n + a.orders.flat().reduce((m, list) => m + list.length, 0), 0)
      expect(orders).toBeLessThan(5_000)
    }
    expect(engine.exchange.accounts.length).toBeLessThanOrEqual(67)
  })

  it('an audit notices a wrong balance', () => {
    const engine = createEngine(1)
    engine.step()
    engine.exchange.accounts[3]!.margin[0]!.rawUsd += 1n
    expect(audit(engine.exchange)).toHaveLength(1)
  })
})

describe('determinism', () => {
  it('equal seeds give equal blocks, and different seeds give different blocks', () => {
    expect(text(createEngine(5), 150)).toBe(text(createEngine(5), 150))
    expect(text(createEngine(5), 20)).not.toBe(text(createEngine(6), 20))
  })

  it('the clock only affects timestamps', () => {
    const a = createEngine(5)
    const b = createEngine(5)
    const bare = (json: string) => json.replaceAll(/"(time|timestamp|nonce)":("[^"]*"|\d+)/g, '')
    for (let i = 1; i <= 100; i++) {
      const left = a.step()
      const right = b.step(2_000_000_000_123_456_789n + BigInt(i * i) * 1_000_000n)
      expect(bare(JSON.stringify(left.orderStatuses))).toBe(bare(JSON.stringify(right.orderStatuses)))
      expect(bare(JSON.stringify(left.fills))).toBe(bare(JSON.stringify(right.fills)))
      expect(left.rawDiffs).toEqual(right.rawDiffs)
    }
  })

  it.each([0, 1, 60, 400])('resumes from a checkpoint at height %i with equal blocks', (height) => {
    const engine = createEngine(11, { fundingBlocks: 90 })
    for (let i = 0; i < height; i++) engine.step()
    const restored = restoreEngine(structuredClone(engine.checkpoint()))
    expect(restored.height).toBe(height)
    expect(restored.checkpoint()).toEqual(engine.checkpoint())
    expect(text(restored, 200)).toBe(text(engine, 200))
    expect(audit(restored.exchange)).toEqual([])
  })

  it('creates empty blocks while quiet, even after a checkpoint', () => {
    const engine = createEngine(11)
    text(engine, 60)
    engine.exchange.quietTo = 63
    const state = JSON.stringify(engine.exchange.quotes, (_, v) => String(v))
    const quiet = restoreEngine(structuredClone(engine.checkpoint()))
    for (const each of [engine, quiet]) expect(text(each, 3).match(/"events":\[\]/g)).toHaveLength(3 * STREAMS.length)
    expect(JSON.stringify(engine.exchange.quotes, (_, v) => String(v))).toBe(state)
    expect(text(quiet, 50)).toBe(text(engine, 50))
  })

  it('rejects a checkpoint of a different version', () => {
    expect(() => restoreEngine({ ...createEngine(1).checkpoint(), version: 4 })).toThrow()
  })
})

/** Every possible event. */
const WANTED = [
  'Open Long,Open Short,Close Long,Close Short,Buy,Sell,Long > Short,Short > Long',
  'deposit,withdraw,internalTransfer,send,accountClassTransfer,spotTransfer,spotGenesis,rewardsClaim,liquidation',
  'vaultCreate,vaultDeposit,vaultWithdraw,vaultLeaderCommission,vaultDistribution',
  'subAccountTransfer,perpDexClassTransfer,accountActivationGas,deployGasAuction,cStakingTransfer',
  'borrowLend supply,borrowLend withdraw,borrowLend borrow,borrowLend repay',
  'badAloPxRejected,iocCancelRejected,perpMarginRejected,tickRejected,liquidatedCanceled',
  'builder,twap,twap activated,twap finished,market,backstop,deployer',
  'Funding,CDeposit,CWithdrawal,Delegation,ValidatorRewards',
].flatMap((kinds) => kinds.split(','))

describe('what happens on the exchange', () => {
  it('has every kind of event within a few minutes', () => {
    const engine = createEngine(3, { fundingBlocks: 500 })
    const seen = new Set<string>()
    const isMissing = (kind: string) => !seen.has(kind)
    for (let i = 0; i < 6_000 && WANTED.some(isMissing); i++) {
      const block = engine.step()
      for (const [, fill] of block.fills) {
        seen.add(fill.dir)
        if (fill.builder !== undefined) seen.add('builder')
        if (fill.twapId !== null) seen.add('twap')
        if (fill.liquidation !== undefined) seen.add(fill.liquidation.method)
        if (fill.deployerFee !== undefined) seen.add('deployer')
      }
      for (const { status } of block.orderStatuses) seen.add(status)
      for (const { status, state } of block.twapStatuses) {
        seen.add(`twap ${status}`)
        if (status === 'finished') expect(Number(state.executedNtl)).toBeGreaterThan(0)
      }
      for (const { inner } of block.miscEvents) {
        const delta = 'LedgerUpdate' in inner ? inner.LedgerUpdate.delta : { type: Object.keys(inner)[0]! }
        seen.add('operation' in delta ? `${delta.type} ${delta.operation}` : delta.type)
      }
    }
    expect(WANTED.filter(isMissing)).toEqual([])
  })

  it('books of the big coins are deep, and makers stay solvent', () => {
    const engine = createEngine(4)
    for (let i = 0; i < 300; i++) engine.step()
    for (const id of [0, 1, 2])
      for (const side of engine.exchange.books[id]!.levels()) expect(side.length).toBeGreaterThan(200)
    const marks = markPxs(engine.exchange)
    for (let i = 0; i < 6; i++)
      expect(marginState(engine.exchange.accounts[i]!.margin[0]!, marks).value).toBeGreaterThan(0n)
  })
})
