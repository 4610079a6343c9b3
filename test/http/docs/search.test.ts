// Search of the documentation.

import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import {
  buildIndex,
  groupedHits,
  type Hit,
  loadIndex,
  type SearchEntry,
  searchPages,
} from '../../../src/console/docs/search.ts'
import { searchEntries } from '../../../src/http/docs/site/search-entries.ts'
import { docsPages } from '../../../src/http/docs/site/write-docs.node.ts'

const entry = (title: string, more: Partial<SearchEntry> = {}): SearchEntry => {
  const empty = { summary: '', group: 'reference', headings: [], keywords: '', body: '' } as const
  return { address: `/docs/${title}`, title, ...empty, ...more }
}
const found = (entries: readonly SearchEntry[], typed: string) =>
  searchPages(loadIndex(buildIndex(entries)), typed).map(({ title }) => title)

it('ranks titles above names of fields, headings, summaries and text', () => {
  const entries = [
    entry('a', { body: 'of the coin' }),
    entry('l2Book', { keywords: 'coin nSigFigs' }),
    entry('coin'),
    entry('other'),
  ]
  expect(found(entries, ' COIN ')).toEqual(['coin', 'l2Book', 'a'])
})

it('finds parts of names, prefixes, plurals, synonyms and typing errors', () => {
  const entries = [entry('userFills'), entry('eth_call'), entry('authentication'), entry('status')]
  expect(found(entries, 'user fill')).toEqual(['userFills'])
  expect(found(entries, 'call')).toEqual(['eth_call'])
  expect(found(entries, 'ETH_CALL')).toEqual(['eth_call'])
  expect(found(entries, 'auth')).toEqual(['authentication'])
  expect(found(entries, 'login')).toEqual(['authentication'])
  expect(found(entries, 'athentication')).toEqual(['authentication'])
  expect(found(entries, 'status')).toEqual(['status'])
})

it('requires every word, or any word if no page has all of them; words without meaning do not count', () => {
  const entries = [entry('l2Book', { body: 'coin' }), entry('meta', { body: 'dex' })]
  expect(found(entries, 'how to book the coin')).toEqual(['l2Book'])
  expect(found(entries, 'book dex').sort()).toEqual(['l2Book', 'meta'])
  expect([found(entries, '  '), found(entries, 'how to'), found(entries, 'zzzz')]).toEqual([[], [], []])
})

it('leads to the heading that matches better than the title', () => {
  const page = entry('Authentication', { headings: [['Rotate a key', 'rotate-a-key']] })
  const index = loadIndex(buildIndex([page]))
  expect(searchPages(index, 'rotate')).toMatchObject([
    { address: `${page.address}#rotate-a-key`, heading: 'Rotate a key' },
  ])
  expect(searchPages(index, 'authentication')).toMatchObject([{ address: page.address, heading: null }])
})

it('returns at most twelve pages, in groups in the order of their best hits, and internals last', () => {
  expect(found(Array(30).fill(entry('book')), 'book')).toHaveLength(12)
  const hit = (title: string, group: Hit['group']): Hit => {
    return { address: `/docs/${title}`, title, summary: '', group, heading: null }
  }
  const hits = [hit('a', 'internals'), hit('b', 'reference'), hit('c', 'guides'), hit('d', 'reference')]
  const groups = groupedHits(hits).map(([group, own]) => [group, ...own.map(({ title }) => title)])
  expect(groups).toEqual([
    ['reference', 'b', 'd'],
    ['guides', 'c'],
    ['internals', 'a'],
  ])
})

const pages = docsPages(join(import.meta.dirname, '../../..'))
const json = buildIndex(searchEntries(pages))
const index = loadIndex(json)

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
  ['postman', '/docs/reference/generated-clients'],
] as const)('finds the page for %s', (query, ...wanted) => {
  const [first] = searchPages(index, query)
  expect(wanted).toContain(first?.address.split('#')[0])
})

// Words that are only in the text of a page, and questions as people type them.
it.each([
  ['how do i rotate a key', '/docs/reference/authentication#rotate-a-key'],
  ['what does it cost', '/docs/reference/pricing'],
  ['rate_limited', '/docs/reference/errors#codes'],
  ['401', '/docs/reference/errors#codes'],
  ['4413', '/docs/reference/errors#websocket-close-codes'],
  ['close code 1013', '/docs/reference/errors#websocket-close-codes'],
  ['-32005', '/docs/reference/errors#json-rpc'],
  ['pip install', '/docs/reference/sdks#install'],
  ['cursor', '/docs/reference/pagination'],
  ['history files', '/docs/guides/history-files'],
  ['mcp', '/docs/guides/use-from-an-ai-agent'],
  ['maxTradeSzs', '/docs/info/activeAssetData'],
])('finds %s', (query, wanted) => {
  expect(searchPages(index, query)[0]?.address).toBe(wanted)
})

it('is at most 250 KB on the wire', () => {
  const bytes = gzipSync(json).length
  console.log(`search index: ${bytes} B gzipped`)
  expect(bytes).toBeLessThanOrEqual(250_000)
})

it('shows the type of order books among the first four', () => {
  const addresses = searchPages(index, 'order book').map(({ address }) => address)
  expect(addresses.slice(0, 4).some((address) => /\/l2Book$/.test(address))).toBe(true)
})
