// Search of the documentation.

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type IndexedPage, searchPages } from '../../../src/console/docs/search.ts'
import { searchIndex } from '../../../src/http/docs/site/page.ts'
import { docsPages } from '../../../src/http/docs/site/write-docs.node.ts'

const page = (title: string, more: Partial<IndexedPage> = {}): IndexedPage => {
  return { address: `/docs/${title}`, title, summary: '', words: '', ...more }
}
const found = (pages: readonly IndexedPage[], typed: string) => searchPages(pages, typed).map(({ title }) => title)

it('ranks exact names first, then prefixes, parts, fields and summaries', () => {
  const pages = [
    page('status', { summary: 'of the coin' }),
    page('l2Book', { words: 'coin nsigfigs' }),
    page('bitcoin'),
    page('coins'),
    page('coin'),
    page('other'),
  ]
  expect(found(pages, ' COIN ')).toEqual(['coin', 'coins', 'bitcoin', 'l2Book', 'status'])
})

it('requires every word, and an empty query finds nothing', () => {
  const pages = [page('l2Book', { words: 'coin' }), page('meta', { words: 'dex' })]
  expect(found(pages, 'book coin')).toEqual(['l2Book'])
  expect([found(pages, 'book dex'), found(pages, '  ')]).toEqual([[], []])
})

it('ranks decisions last and returns at most twelve pages', () => {
  const why = page('Books', { address: '/docs/internals/decisions/02-books' })
  expect(found([why, page('l2Book')], 'book')).toEqual(['l2Book', 'Books'])
  expect(found(Array(30).fill(page('book')), 'book')).toHaveLength(12)
})

const index = searchIndex(docsPages(join(import.meta.dirname, '../../..')))

// The queries of a reader who looks for a page; the first hit must be one of these.
it.each([
  ['order book', '/docs/guides/order-books'],
  ['candles', '/docs/info/candleSnapshot', '/docs/channels/candle'],
  ['user fills', '/docs/info/userFills', '/docs/channels/userFills'],
  ['open orders', '/docs/info/openOrders', '/docs/channels/openOrders'],
  ['funding rate', '/docs/info/fundingHistory'],
  ['replay', '/docs/guides/replay'],
  ['websocket', '/docs/reference/websocket'],
  ['credits', '/docs/reference/pricing'],
  ['reconnect', '/docs/guides/replay', '/docs/reference/websocket'],
  ['liquidations', '/docs/channels/liquidationFills', '/docs/channels/builderLiquidations'],
  ['rate limit', '/docs/reference/rate-limits'],
  ['rate limits', '/docs/reference/rate-limits'],
  ['api key', '/docs/reference/authentication'],
  ['api keys', '/docs/reference/authentication'],
  ['create api key', '/docs/reference/authentication', '/docs/get-started'],
  ['backfill history', '/docs/guides/history-files', '/docs/guides/replay'],
  ['python', '/docs/reference/sdks'],
  ['graphql subscription', '/docs/reference/graphql'],
  ['changelog', '/docs/changelog'],
  ['balances', '/docs/rest/balances', '/docs/reference/rest'],
  ['eth_call', '/docs/rpc/methods'],
  ['authentication', '/docs/reference/authentication'],
  ['pricing', '/docs/reference/pricing'],
  ['error codes', '/docs/reference/errors'],
  ['429', '/docs/reference/errors', '/docs/reference/rate-limits'],
  ['pagination', '/docs/reference/pagination'],
  ['timeout', '/docs/reference/errors', '/docs/reference/sdks'],
  ['kafka', '/docs/reference/pipelines'],
  ['clickhouse', '/docs/reference/pipelines'],
  ['webhook signature', '/docs/guides/webhooks', '/docs/reference/rest'],
  ['typescript sdk', '/docs/reference/sdks'],
  ['postman', '/docs/reference/info', '/docs/reference/sdks'],
] as const)('finds the page for %s', (query, ...wanted) => {
  const [first] = searchPages(index, query)
  expect(wanted).toContain(first?.address)
})

it('shows the type of order books among the first four', () => {
  const addresses = searchPages(index, 'order book').map(({ address }) => address)
  expect(addresses.slice(0, 4).some((address) => /\/l2Book$/.test(address))).toBe(true)
})
