// Devnet answers every type of the catalogue that the gateway requests from an upstream, and the answer matches the
// gateway's response schema: for the example request on a new exchange, on one with trades, and for every wallet.

import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { DEXES, MARKETS } from '../../src/devnet/exchange/market.ts'
import { handleInfo } from '../../src/devnet/info/info.ts'
import { spotMeta } from '../../src/devnet/info/listing.ts'
import { CATALOGUE } from '../../src/info/queries/catalogue.ts'
import { upstreamTypesOf } from '../../src/info/query.ts'

const fresh = createEngine(3)
const engine = createEngine(3, { fundingBlocks: 200 })
for (let i = 0; i < 2_000; i++) engine.step()
const { tokens } = spotMeta(engine.exchange)
/** Names in an example that do not exist on this exchange. */
const NAMES: Readonly<Record<string, object>> = { tokenDetails: { tokenId: tokens[1]!.tokenId } }

const asked = CATALOGUE.filter((query) => upstreamTypesOf(query).includes(query.type))

describe.each(asked.map((query) => [query.type, query] as const))('%s', (type, { request, response, example }) => {
  const bodyOf = (scene: typeof engine, body: object) => {
    const answer = handleInfo(scene, JSON.parse(JSON.stringify(body)))
    expect(answer.status).toBe(200)
    const told: unknown = JSON.parse(JSON.stringify((answer as { body: unknown }).body))
    expect(response().safeParse(told).error?.issues[0]).toBeUndefined()
    return told
  }

  it('returns a response like the example of its query', () => {
    for (const scene of [fresh, engine]) bodyOf(scene, request.parse({ type, ...example.request, ...NAMES[type] }))
  })

  it('works for every wallet', () => {
    let sample = 0
    for (const { address: user } of engine.exchange.accounts)
      for (const dex of DEXES) {
        const { coin } = MARKETS[sample++ % 12]!
        const oid = engine.history.wallet(user)?.orders.keys().next().value ?? 1
        const req = { coin, interval: '1m', startTime: 0 }
        const { tokenId } = tokens[sample % tokens.length]!
        const names = { dex, coin, oid, id: 5, token: 0, tokenId, outcome: sample % 6, venue: 'out' }
        const others = { builder: user, vaultAddress: user, source: user }
        bodyOf(engine, { type, user, ...others, ...names, startTime: 0, req })
      }
  })
})

describe('a response from an example', () => {
  const user = engine.exchange.accounts[20]!.address
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
  const ask = (type: string, fields: object = {}): any =>
    JSON.parse(JSON.stringify((handleInfo(engine, { type, user, ...fields }) as { body: unknown }).body))

  it('is about the requested wallet, at the time of the last block', () => {
    expect(ask('twapHistory')).toEqual([])
    expect(ask('subAccounts')[0].master).toBe(user)
    expect(ask('delegations')[0].lockedUntilTimestamp).toBe(engine.exchange.block.timeMs)
  })

  it('agrees with the state', () => {
    const [{ vaultAddress, tvl }] = ask('vaultSummaries')
    const { accountValue } = ask('clearinghouseState', { user: vaultAddress }).marginSummary
    expect([tvl, ask('vaultDetails', { vaultAddress }).vaultAddress]).toEqual([accountValue, vaultAddress])
    expect(ask('vaultDetails', { vaultAddress: user })).toBeNull()
    expect(ask('userRole', { user: vaultAddress })).toEqual({ role: 'vault' })
    const [sub] = ask('subAccounts')
    expect(sub.clearinghouseState).toEqual(ask('clearinghouseState', { user: sub.subAccountUser }))
    expect(ask('webData2')).toMatchObject({ clearinghouseState: ask('clearinghouseState'), user })
    const [{ outcome }] = ask('outcomeMeta').outcomes
    expect([ask('settledOutcome', { outcome }), ask('perpAnnotation', { coin: 'BTC' })]).toEqual([null, null])
  })

  it.each([
    { type: 'portfolioState', user },
    { type: 'nope' },
    { type: 'portfolio', user: '0x12' },
    { type: 'constructor' },
  ])('does not exist for %j', (body) => {
    expect(handleInfo(engine, body).status).toBe(422)
  })
})
