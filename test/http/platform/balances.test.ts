// Balances in dollars: prices of tokens, and spot versus DEX balances.

import { expect, it } from 'vitest'
import { balanceRows, balances, totalQuote } from '../../../src/http/platform/endpoints/balances.ts'

const prices = {
  mids: { '@107': '31.25', 'PURR/USDC': '0.5', '@200': '2.0', '#40': '0.25', '@9': '7.0', constructor: '1.0' },
  pairs: [
    { tokens: [150, 0], name: '@107' },
    { tokens: [1, 0], name: 'PURR/USDC' },
    // Quoted in PURR, and in an unknown token.
    { tokens: [7, 1], name: '@200' },
    { tokens: [8, 99], name: '@9' },
    // In two markets, and in one without a price.
    { tokens: [5, 1], name: '@200' },
    { tokens: [5, 0], name: '@107' },
    { tokens: [12, 0], name: 'toString' },
  ],
} as const
const spot = (coin: string, token: number | undefined, total: string) => ({
  coin,
  total,
  hold: '0',
  ...(token === undefined ? {} : { token }),
})
const account = (accountValue: string, ...pnls: string[]) => ({
  marginSummary: { accountValue, totalMarginUsed: '0.0' },
  assetPositions: pnls.map((unrealizedPnl) => ({ position: { unrealizedPnl } })),
})
const rows = (balances: ReturnType<typeof spot>[], perps = {}, abstraction = 'default') =>
  balanceRows({ spot: { balances }, perps, abstraction }, prices)

it('a token is valued at its mid price', () => {
  const found = rows([
    spot('USDC', 0, '2.50'),
    spot('HYPE', 150, '0.000000000000000001'),
    spot('X', 7, '3'),
    spot('Y', 8, '1'),
    spot('Z', 12, '1'),
    spot('+40', undefined, '-8.0'),
    spot('V', 5, '0'),
  ])
  expect(found.map(({ coin, quote_rate: rate, quote }) => [coin, rate, quote])).toEqual([
    ['USDC', '1.0', '2.5'],
    ['HYPE', '31.25', '0.000000000000000031'],
    ['X', '1.0', '3.0'],
    ['Y', null, null],
    ['Z', null, null],
    ['+40', '0.25', '-2.0'],
    ['V', '31.25', '0.0'],
  ])
  expect(totalQuote(found)).toBe('3.500000000000000031')
})

it('a DEX is valued at its equity and omitted if empty', () => {
  const perps = { native: account('500', '20'), xyz: account('-1.5'), flx: account('0.0') }
  expect(rows([], perps).map(({ dex, balance, quote }) => [dex, balance, quote])).toEqual([
    ['', '500.0', '500.0'],
    ['xyz', '-1.5', '-1.5'],
  ])
})

it.each(['unifiedAccount', 'portfolioMargin'])(
  'with %s, the collateral is part of the token balances and is counted once',
  (mode) => {
    const found = rows([spot('USDC', 0, '100')], { native: account('100.0', '5.5', '-2.0'), xyz: account('7.0') }, mode)
    expect(found.map(({ type, balance }) => [type, balance])).toEqual([
      ['spot', '100.0'],
      ['perp', '3.5'],
    ])
    expect(totalQuote(found)).toBe('103.5')
  },
)

const USER = `0x${'ab'.repeat(20)}`
const STATE = {
  clearinghouseState: { native: account('10') },
  spotClearinghouseState: { balances: [spot('HYPE', 150, '1'), spot('USDC', 0, '2')] },
  userAbstraction: 'default',
}

/** Calls the endpoint; `answers`: exchange responses by type, missing ones are unavailable. */
async function ask(answers: Readonly<Record<string, unknown>>, query: object = {}, chain = 'hyperliquid') {
  const read: unknown[] = []
  const platform = {
    chain: 'hyperliquid',
    now: () => 0,
    dataService: () => null,
    read: async (request: { readonly type: string }, account: string) => {
      read.push([request, account])
      return request.type in answers ? JSON.stringify(answers[request.type]) : null
    },
  }
  const given = {
    params: { chain, address: USER.toUpperCase().replace('X', 'x') },
    query: { 'page-number': 0, 'page-size': 100, ...query },
    identity: { account: 'acme' },
  }
  const { data, failure } = await balances.handle(given as never, platform as never).then((answer) => ({
    data: answer.ok ? (answer.value.body as { data: { items: { quote: string | null }[] } }).data : null,
    failure: answer.ok ? null : answer.error.kind,
  }))
  return { data, failure, read }
}
const KNOWN = { portfolioState: STATE, spotMeta: { universe: prices.pairs }, allMids: prices.mids }

it('requests use the lower-case wallet and the account’s queue', async () => {
  const { data, read } = await ask(KNOWN)
  expect(data).toMatchObject({ address: USER, total_quote: '43.25', pagination: { has_more: false, total_count: 3 } })
  expect(read).toContainEqual([{ type: 'portfolioState', user: USER, dex: 'ALL_DEXES' }, 'acme'])
  expect(new Set((read as [unknown, string][]).map(([, account]) => account))).toEqual(new Set(['acme']))
})

it('tokens are found by their index, however sparse the listing is', async () => {
  // A pair of a token that is not listed, before the pair of a token whose index is not its position.
  const universe = [
    { tokens: [301, 0], name: '@300' },
    { tokens: [479, 0], name: '@367' },
  ]
  const tokens = [0, 3, 479].map((index) => ({ index }))
  const balances = [spot('LISTED', 479, '2'), spot('UNLISTED', 301, '3'), spot('UNPAIRED', 3, '1')]
  const { data } = await ask({
    portfolioState: { ...STATE, spotClearinghouseState: { balances } },
    spotMeta: { universe, tokens },
    allMids: { '@367': '1.5' },
  })
  expect(data!.items.map(({ quote }) => quote)).toEqual(['3.0', null, null, '10.0'])
})

it('pages report whether another page follows', async () => {
  const page = async (at: number) => (await ask(KNOWN, { 'page-number': at, 'page-size': 2 })).data
  expect(await page(0)).toMatchObject({ items: [{ coin: 'HYPE' }, { coin: 'USDC' }], pagination: { has_more: true } })
  expect(await page(1)).toMatchObject({ items: [{ type: 'perp' }], pagination: { has_more: false } })
})

it('balances do not need prices, but need the state of each DEX', async () => {
  const { allMids: _, ...unpriced } = KNOWN
  expect((await ask(unpriced)).data!.items.map(({ quote }) => quote)).toEqual([null, '2.0', '10.0'])
  const broken = { ...STATE, clearinghouseState: { native: account('10'), xyz: { error: 'away' } } }
  expect((await ask({ ...KNOWN, portfolioState: broken })).failure).toBe('unavailable')
  expect((await ask({ allMids: prices.mids })).failure).toBe('unavailable')
})

it.each<[string, unknown]>([
  ['of an account that is none', { ...STATE, clearinghouseState: { native: {} } }],
  ['of nothing', { ...STATE, clearinghouseState: { native: null } }],
  ['in numbers that are no decimals', { ...STATE, clearinghouseState: { native: account('1e3') } }],
  ['in numbers of JSON', { ...STATE, spotClearinghouseState: { balances: [{ ...spot('USDC', 0, '1'), total: 1 }] } }],
  ['without balances', { ...STATE, spotClearinghouseState: null }],
  ['of no mode', { ...STATE, userAbstraction: null }],
])('an exchange response of %s is unavailable', async (_, portfolioState) => {
  expect((await ask({ ...KNOWN, portfolioState })).failure).toBe('unavailable')
})

it('missing markets fail, and missing prices give no quotes', async () => {
  expect((await ask({ ...KNOWN, spotMeta: { universe: [{ tokens: [1] }] } })).failure).toBe('unavailable')
  const { data } = await ask({ ...KNOWN, allMids: { '@107': null } })
  expect(data!.items.map(({ quote }) => quote)).toEqual([null, '2.0', '10.0'])
})

it('another chain without a data service is unknown', async () => {
  const { failure, read } = await ask(KNOWN, {}, 'other')
  expect([failure, read]).toEqual(['not_found', []])
})
