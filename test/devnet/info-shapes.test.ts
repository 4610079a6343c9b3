// The gateway's own response schemas accept what the stand-in answers, for every type that the gateway asks of an upstream.

import { beforeAll, expect, it } from 'vitest'
import { createEngine, type Engine } from '../../src/devnet/engine.ts'
import { DEXES, MARKETS } from '../../src/devnet/exchange/market.ts'
import { SMALL } from '../../src/devnet/exchange/scale.ts'
import { answerInfo } from '../../src/devnet/info/info.ts'
import { spotMeta } from '../../src/devnet/info/market.ts'
import { InfoRequest, type StateRequest } from '../../src/devnet/info/request.ts'
import { CATALOGUE } from '../../src/info/catalogue.ts'

/** Made by the gateway from other answers, or from what it knows itself. */
const COMPOSED = [
  'l2BookDiffSnapshot',
  'batchClearinghouseState',
  'batchSpotClearinghouseState',
  'portfolioState',
  'builderFills',
  'builderFillsByTime',
  'userCompletedTrades',
  'userCompletedTradesByTime',
  'userPnlSummary',
]
const asked = CATALOGUE.filter(({ type }) => !COMPOSED.includes(type))

const TOKENS = spotMeta({ scale: SMALL }).tokens
let engine: Engine
beforeAll(() => {
  engine = createEngine(3, { fundingBlocks: 200 })
  for (let i = 0; i < 2_000; i++) engine.step()
})

it.each(asked.map((query) => [query.type, query] as const))('%s', (type, { response }) => {
  const users = engine.exchange.accounts.map(({ address }) => address)
  let sample = 0
  for (const user of users)
    for (const dex of DEXES) {
      const coin = MARKETS[sample++ % 12]!.coin
      const oid = engine.past.wallet(user)?.orders.keys().next().value ?? 1
      const req = { coin, interval: '1m', startTime: 0 }
      const { tokenId } = TOKENS[sample % TOKENS.length]!
      const names = { dex, coin, oid, id: 5, token: sample % TOKENS.length, tokenId, outcome: sample % 6, venue: 'out' }
      const fields = { user, builder: users[12], vaultAddress: user, source: user, ...names, startTime: 0, req }
      const answer = answerInfo(engine, InfoRequest.parse({ type, ...fields }) as StateRequest)
      expect(answer.status).toBe(200)
      const body: unknown = JSON.parse(JSON.stringify((answer as { body: unknown }).body))
      expect(response.safeParse(body).error?.issues[0]).toBeUndefined()
    }
})
