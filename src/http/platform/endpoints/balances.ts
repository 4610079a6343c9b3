// GET /v1/{chain}/address/{address}/balances_v2/: balances of a wallet in US dollars. For the exchange's own chain they
// come from info responses: spot balances at mid prices, and the equity on each perp DEX. For other chains they come
// from the operator's data service. Invariant: amounts are exact to 18 decimals; a token without a price has no quote.

import * as z from 'zod'
import type { Coin } from '../../../core/coin.ts'
import { fromScaled, SCALE_DECIMALS, toScaled, trimDecimal } from '../../../core/decimal.ts'
import type { Failure } from '../../../core/failure.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { ONE_CREDIT } from '../../../metering/tariff.ts'
import { type Address, Decimal } from '../../../protocol/feed/block.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CHAIN_PARAMS, unknownChain } from './history.ts'

// The parts of upstream info responses that are used here.

const SpotBalance = z.object({ coin: z.string(), token: z.int().optional(), total: Decimal, hold: Decimal })
type SpotBalance = z.infer<typeof SpotBalance>

const PerpAccount = z.object({
  marginSummary: z.object({ accountValue: Decimal, totalMarginUsed: Decimal }),
  assetPositions: z.array(z.object({ position: z.object({ unrealizedPnl: Decimal }) })),
})
type PerpAccount = z.infer<typeof PerpAccount>

/**
 * Part of `portfolioState`. Parsing fails if a DEX has an error instead of an account, because leaving the DEX out
 * would look like an empty account.
 */
const PortfolioParts = z.object({
  /** Perp accounts by DEX name; the main DEX is `native`. */
  clearinghouseState: z.record(z.string(), PerpAccount),
  spotClearinghouseState: z.object({ balances: z.array(SpotBalance) }),
  userAbstraction: z.string(),
})
/** Mid prices by market, from `allMids`. */
const Mids = z.record(z.string(), Decimal)
/** Spot pairs, from `spotMeta`. */
const Pairs = z.object({
  universe: z.array(z.object({ tokens: z.tuple([z.int(), z.int()]), name: z.string() })),
})

interface Holdings {
  readonly spot: { readonly balances: readonly SpotBalance[] }
  readonly perps: Readonly<Record<string, PerpAccount>>
  readonly abstraction: string
}

interface Prices {
  readonly mids: z.infer<typeof Mids>
  readonly pairs: readonly { readonly tokens: readonly [token: number, quote: number]; readonly name: string }[]
}

export interface BalanceRow {
  readonly type: 'spot' | 'perp'
  readonly coin: Coin
  readonly token: number | null
  readonly dex: string | null
  readonly balance: string
  readonly hold: string
  readonly quote_rate: string | null
  readonly quote: string | null
}

/** Token index of USDC, the quote currency of the exchange. */
const USDC = 0
const ONE = '1.0'
const UNIT = 10n ** BigInt(SCALE_DECIMALS)
/** Modes in which the collateral of perps is part of the spot balances, not of a DEX account. */
const UNIFIED = ['unifiedAccount', 'portfolioMargin']
/** Maximum number of pairs between a token and US dollars. */
const HOPS_MAX = 2

/** Spot balances, then the DEX accounts that are not empty. */
export function balanceRows({ spot, perps, abstraction }: Holdings, prices: Prices): BalanceRow[] {
  const isUnified = UNIFIED.includes(abstraction)
  const rowsOfPerps = Object.entries(perps).flatMap(([name, account]): BalanceRow[] => {
    const { accountValue, totalMarginUsed } = account.marginSummary
    const value = isUnified ? unrealized(account) : trimDecimal(accountValue)
    if (Number(value) === 0 && Number(totalMarginUsed) === 0) return []
    const amounts = { balance: value, hold: trimDecimal(totalMarginUsed), quote_rate: ONE, quote: value }
    return [{ type: 'perp', coin: 'USDC', token: null, dex: name === 'native' ? '' : name, ...amounts }]
  })
  return [...spot.balances.map((balance) => spotRow(balance, prices)), ...rowsOfPerps]
}

/** Sum of all quotes. */
export function totalQuote(rows: readonly BalanceRow[]): string {
  return fromScaled(rows.reduce((sum, { quote }) => (quote === null ? sum : sum + toScaled(quote)), 0n))
}

function spotRow({ coin, token, total, hold }: SpotBalance, prices: Prices): BalanceRow {
  const rate = token === undefined ? outcomeRate(coin, prices) : tokenRate(token, prices, HOPS_MAX)
  const quote = rate === null ? null : product(total, rate)
  const amounts = { balance: trimDecimal(total), hold: trimDecimal(hold), quote_rate: rate, quote }
  return { type: 'spot', coin, token: token ?? null, dex: null, ...amounts }
}

/** Outcome shares are `+N` in balances and `#N` as markets. */
function outcomeRate(coin: Coin, { mids }: Prices): string | null {
  return midOf(mids, `#${coin.slice(1)}`)
}

function tokenRate(token: number, prices: Prices, hops: number): string | null {
  if (token === USDC) return ONE
  if (hops === 0) return null
  const pairs = prices.pairs.filter(({ tokens: [base] }) => base === token)
  // Prefers the market quoted in dollars.
  for (const { name, tokens } of pairs.toSorted((a, b) => a.tokens[1] - b.tokens[1])) {
    const mid = midOf(prices.mids, name)
    const rate = tokenRate(tokens[1], prices, hops - 1)
    if (mid !== null && rate !== null) return product(mid, rate)
  }
  return null
}

function midOf(mids: Prices['mids'], coin: Coin): string | null {
  const mid = Object.hasOwn(mids, coin) ? mids[coin] : undefined
  return mid === undefined ? null : trimDecimal(mid)
}

function unrealized({ assetPositions }: PerpAccount): string {
  return fromScaled(assetPositions.reduce((sum, { position }) => sum + toScaled(position.unrealizedPnl), 0n))
}

function product(amount: string, rate: string): string {
  return fromScaled((toScaled(amount) * toScaled(rate)) / UNIT)
}

const PAGE_SIZE = 100
const PAGES_MAX = 100_000

const Amount = z.string()
const Row = z
  .object({
    type: z.enum(['spot', 'perp']).describe('Kind of balance: spot token or account on a perp DEX'),
    coin: z.string().describe('Token name; `USDC` for a DEX account'),
    token: z.int().nullable().describe('Token index; null for DEX accounts and outcome shares'),
    dex: z.string().nullable().describe('DEX name, empty for the main DEX; null for tokens'),
    balance: Amount.describe(
      'Decimal string. For a DEX account, this is its equity. If the account is unified or uses portfolio margin, it is only the unrealized profit, because the collateral is part of the token balances',
    ),
    hold: Amount.describe('Part of the balance that is locked by orders or positions'),
    quote_rate: Amount.nullable().describe('Price in US dollars (mid price); null: unknown'),
    quote: Amount.nullable().describe('Balance in US dollars; null: price unknown'),
  })
  .meta({ id: 'Balance' })

const Data = z
  .looseObject({
    address: z.string().describe('Wallet address in lower case'),
    chain_name: z.string().describe('Name of the chain'),
    quote_currency: z.string().describe('Quote currency, always `USD`'),
    updated_at: z.string().describe('Time of the response, ISO 8601'),
    account_mode: z.string().describe('Account mode as in `userAbstraction`'),
    total_quote: Amount.describe('Total in US dollars over all pages; does not include tokens whose price is unknown'),
    items: z.array(Row).describe('Tokens, then DEX accounts'),
    pagination: z
      .object({
        has_more: z.boolean().describe('Whether there is a next page'),
        page_number: z.int().describe('Page number, from 0'),
        page_size: z.int().describe('Rows per page'),
        total_count: z.int().describe('Total number of rows'),
      })
      .describe('Position of this page'),
  })
  .meta({ id: 'Balances' })

const UNAVAILABLE: Failure = {
  kind: 'unavailable',
  what: 'The exchange’s balances are unavailable',
  retryAfterMs: 1_000,
}

export const balances = defineEndpoint({
  id: 'balances',
  route: 'GET /v1/{chain}/address/{address}/balances_v2/',
  summary: 'Get the balances of a wallet in US dollars',
  description:
    'For the exchange’s own chain, the response has the spot balances and the equity on every perp DEX. For a chain with a data service, the response comes from that service, with the service’s own fields.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: {
    ...CHAIN_PARAMS,
    address: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')
      .describe('Address of the wallet'),
  },
  query: z.strictObject({
    'page-number': wholeNumber(0, PAGES_MAX).default(0).describe('Page number, from 0'),
    'page-size': wholeNumber(1, 1_000).default(PAGE_SIZE).describe('Rows per page, up to 1,000; default 100'),
  }),
  responses: okResponse('A page of balances', Data, {
    address: '0x1111111111111111111111111111111111111111',
    chain_name: 'hyperliquid',
    quote_currency: 'USD',
    updated_at: '2026-11-24T00:00:00.000Z',
    account_mode: 'default',
    total_quote: '1562.5',
    items: [
      { type: 'spot', coin: 'USDC', token: 0, balance: '1000.0', hold: '0.0', quote_rate: '1.0', quote: '1000.0' },
      { type: 'spot', coin: 'HYPE', token: 150, balance: '2.0', hold: '0.0', quote_rate: '31.25', quote: '62.5' },
      { type: 'perp', coin: 'USDC', dex: '', balance: '500.0', hold: '20.0', quote_rate: '1.0', quote: '500.0' },
    ],
    pagination: { page_number: 0, page_size: 100, total_count: 3 },
  }),
  handle: async ({ params, query, identity }, platform) => {
    const { chain } = params
    const address = params.address.toLowerCase()
    const page = { number: query['page-number'], size: query['page-size'] }
    const path = `address/${address}/balances_v2/?page-number=${page.number}&page-size=${page.size}`
    const serviced = platform.dataService(chain, path)
    if (serviced !== null) {
      const result = await serviced
      return result.ok ? reply(200, result.value as never, { contentType: 'application/json' }) : result
    }
    if (chain !== platform.chain) return err(unknownChain(chain, platform))
    const holdings = await holdingsOf(address, (request) => platform.read(request, identity.account))
    if (!holdings.ok) return holdings
    const { rows, mode } = holdings.value
    return reply(200, {
      address,
      chain_name: chain,
      quote_currency: 'USD',
      account_mode: mode,
      total_quote: totalQuote(rows),
      updated_at: new Date(platform.now()).toISOString(),
      items: rows.slice(page.number * page.size, (page.number + 1) * page.size),
      pagination: {
        has_more: (page.number + 1) * page.size < rows.length,
        page_number: page.number,
        page_size: page.size,
        total_count: rows.length,
      },
    })
  },
})

async function holdingsOf(
  user: Address,
  read: (request: Readonly<Record<string, unknown>>) => Promise<string | null>,
): Promise<Result<{ readonly rows: readonly BalanceRow[]; readonly mode: string }, Failure>> {
  const [state, meta, mids] = await Promise.all([
    read({ type: 'portfolioState', user, dex: 'ALL_DEXES' }),
    read({ type: 'spotMeta' }),
    read({ type: 'allMids' }),
  ])
  const portfolio = parsedJson(PortfolioParts, state)
  const pairs = parsedJson(Pairs, meta)
  if (portfolio === null || pairs === null) return err(UNAVAILABLE)
  const { clearinghouseState: perps, spotClearinghouseState: spot, userAbstraction: abstraction } = portfolio
  const prices = { pairs: pairs.universe, mids: parsedJson(Mids, mids) ?? {} }
  return ok({ rows: balanceRows({ spot, perps, abstraction }, prices), mode: abstraction })
}

/** Returns null if the text is missing or does not match the schema. */
function parsedJson<T>(schema: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null)
}
