// The price list of GET /x402.

import { expect, it } from 'vitest'
import { PriceList, priceList } from '../../../src/billing/x402/price-list.ts'
import { X402 } from '../../../src/billing/x402/settings.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { offersRoutes, paidCalls } from '../../../src/http/x402/offers.route.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { parseChains } from '../../../src/rpc/chains.ts'

const NETWORK = {
  payTo: `0x${'AB'.repeat(20)}`,
  network: 'eip155:8453',
  asset: { address: `0x${'cd'.repeat(20)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' },
  facilitator: 'https://facilitator.example.com',
  creditsPerUsd: '1000',
  leastUsd: '0.005',
  multiple: '1',
  topUp: { leastUsd: '1', mostUsd: '1000' },
  plan: 'entry',
}
const settings = (...networks: object[]) =>
  X402.parse(JSON.stringify(networks.map((each) => ({ ...NETWORK, ...each }))))
const chains = parseChains(
  JSON.stringify([
    { name: 'hyperevm', urls: ['https://node.example.com'], prices: { 'eth_getlogs*': 20 } },
    { name: 'data', dataUrl: 'https://data.example.com' },
  ]),
)
const sold = { queries: CATALOGUE, operations: ENDPOINTS, chains: chains.ok ? chains.value : [] }

it('lists every call that has one price, with its price on each network', async () => {
  const networks = settings({}, { network: 'eip155:999', creditsPerUsd: '100', multiple: '2.5', leastUsd: '0.000001' })
  const list = priceList(networks, paidCalls(sold))
  expect(PriceList.parse(list)).toEqual(list)
  expect(list.networks).toMatchObject([
    { pay_to: `0x${'ab'.repeat(20)}`, credits_per_usd: '1000', least_usd: '0.005', multiple: '1' },
    { credits_per_usd: '100', least_usd: '0.000001', multiple: '2.5', top_up: { least_usd: '1', most_usd: '1000' } },
  ])
  const call = (type: string) => list.calls.find((each) => each.type === type)
  expect(call('l2Book')).toMatchObject({
    request: 'POST /info',
    usd: { 'eip155:8453': '0.005', 'eip155:999': '0.025' },
    schema: '/openapi/info/l2Book.json',
  })
  expect(call('eth_getlogs*')).toMatchObject({ credits: '20', usd: { 'eip155:8453': '0.02', 'eip155:999': '0.5' } })
  expect(call('*')).toMatchObject({ product: 'rpc', request: 'POST /v1/hyperevm', credits: '1' })
  expect(
    list.calls
      .filter(({ product }) => product === 'info')
      .map(({ type }) => type)
      .sort(),
  ).toEqual(CATALOGUE.map(({ type }) => type).sort())
  const data = list.calls.filter(({ product }) => product === 'data')
  expect(data.length).toBeGreaterThan(2)
  for (const { request } of data) expect(request).toMatch(/^GET \/v1\//)
})

it('is served with an ETag, or says that there is none', async () => {
  const on = offersRoutes({ ...sold, networks: settings({}), requestId: () => 'req_1' })
  const first = await on.request('/x402')
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json'])
  const tag = first.headers.get('etag') ?? ''
  expect((await on.request('/x402', { headers: { 'if-none-match': tag } })).status).toBe(304)
  const off = await offersRoutes({ ...sold, networks: settings(), requestId: () => 'req_1' }).request('/x402')
  expect([off.status, await off.text()]).toEqual([404, expect.stringContaining('does not accept payments by x402')])
})
