// The simulated exchange, which stands in for a node and a public API, takes what Weir sends for every type.
// Its answers for every kind of account are held against our schemas in test/devnet/info-shapes.test.ts.

import { expect, it } from 'vitest'
import { createEngine } from '../../src/devnet/engine.ts'
import { SMALL } from '../../src/devnet/exchange/scale.ts'
import { answerInfo } from '../../src/devnet/info/info.ts'
import { spotMeta } from '../../src/devnet/info/market.ts'
import { InfoRequest, type StateRequest } from '../../src/devnet/info/request.ts'
import { CATALOGUE } from '../../src/info/catalogue.ts'
import { asksUpstream } from '../../src/info/query.ts'

/** Put together by Weir from other types. */
const COMPOSED = ['batchClearinghouseState', 'batchSpotClearinghouseState', 'portfolioState']
const PASSED = CATALOGUE.filter((query) => asksUpstream(query) && !COMPOSED.includes(query.type))
/** What an example names that this exchange has not. */
const NAMES: Readonly<Record<string, object>> = {
  tokenDetails: { tokenId: spotMeta({ scale: SMALL }).tokens[1]!.tokenId },
}
const engine = createEngine(3)
for (let i = 0; i < 20; i++) engine.step()

it.each(PASSED.map((query) => [query.type, query] as const))('%s', (type, { request, response, example }) => {
  const sent = JSON.parse(JSON.stringify(request.parse({ type, ...example.request, ...NAMES[type] })))
  const answer = answerInfo(engine, InfoRequest.parse(sent) as StateRequest)
  expect(answer.status).toBe(200)
  response.parse(JSON.parse(JSON.stringify((answer as { body: unknown }).body)))
})
