// GET /v1/{chain}/address/{address}/balances_v2/: what a wallet has, in dollars. Of the exchange's own chain out of what it
// tells of the wallet: spot balances at the middle of their books, and what each perp DEX holds for it; of others from the
// data service that the operator put behind them. Invariant: exact, nothing is rounded but below the eighteenth decimal; what
// has no price has no quote.

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

// Parts of info answers that matter here, which come from outside as they are.

const SpotBalance = z.object({ coin: z.string(), token: z.int().optional(), total: Decimal, hold: Decimal })
type SpotBalance = z.infer<typeof SpotBalance>

const PerpAccount = z.object({
  marginSummary: z.object({ accountValue: Decimal, totalMarginUsed: Decimal }),
  assetPositions: z.array(z.object({ position: z.object({ unrealizedPnl: Decimal }) })),
})
type PerpAccount = z.infer<typeof PerpAccount>

/** Of `portfolioState`. A DEX that has an error in place of its account is none of these: left out it would read as one without money. */
const PortfolioParts = z.object({
  /** By name of the DEX, the main one as `native`. */
  clearinghouseState: z.record(z.string(), PerpAccount),
  spotClearinghouseState: z.object({ balances: z.array(SpotBalance) }),
  userAbstraction: z.string(),
})
/** Of `allMids`, by name of the market. */
const Mids = z.record(z.string(), Decimal)
/** Of `spotMeta`. */
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

/** The token that the exchange counts in. */
const USDC = 0
const ONE = '1.0'
const UNIT = 10n ** BigInt(SCALE_DECIMALS)
/** With these the money of perps lies among the spot balances, and a DEX's own account says nothing of it. */
const UNIFIED = ['unifiedAccount', 'portfolioMargin']
/** Tokens are counted in others that are counted in dollars; none is further away than that. */
const HOPS_MAX = 2

/** Spot first, then the DEXes that hold anything. */
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

/** The sum of what is quoted. */
export function totalQuote(rows: readonly BalanceRow[]): string {
  return fromScaled(rows.reduce((sum, { quote }) => (quote === null ? sum : sum + toScaled(quote)), 0n))
}

function spotRow({ coin, token, total, hold }: SpotBalance, prices: Prices): BalanceRow {
  const rate = token === undefined ? outcomeRate(coin, prices) : tokenRate(token, prices, HOPS_MAX)
  const quote = rate === null ? null : product(total, rate)
  const amounts = { balance: trimDecimal(total), hold: trimDecimal(hold), quote_rate: rate, quote }
  return { type: 'spot', coin, token: token ?? null, dex: null, ...amounts }
}

/** Shares of an outcome are `+N` among balances, and `#N` on the market. */
function outcomeRate(coin: Coin, { mids }: Prices): string | null {
  return midOf(mids, `#${coin.slice(1)}`)
}

function tokenRate(token: number, prices: Prices, hops: number): string | null {
  if (token === USDC) return ONE
  if (hops === 0) return null
  const pairs = prices.pairs.filter(({ tokens: [base] }) => base === token)
  // Where there are several markets, the one in dollars.
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
    type: z.enum(['spot', 'perp']).describe('A token, or the account on a perp DEX'),
    coin: z.string().describe('Name of the token; of an account `USDC`'),
    token: z.int().nullable().describe('Its index; null of accounts and of outcome shares'),
    dex: z.string().nullable().describe('The DEX of an account, the main one as empty text; null of tokens'),
    balance: Amount.describe(
      'Decimal text; of an account its equity. Where the account is unified, or has portfolio margin, its money is among the tokens, and this is its unrealised profit alone',
    ),
    hold: Amount.describe('What of it orders or positions keep back'),
    quote_rate: Amount.nullable().describe('Dollars for one, by the middle of its book; null: nobody knows'),
    quote: Amount.nullable().describe('The balance in dollars'),
  })
  .meta({ id: 'Balance' })

const Data = z
  .looseObject({
    address: z.string().describe('The wallet, in small letters'),
    chain_name: z.string().describe('The chain'),
    quote_currency: z.string().describe('`USD`'),
    updated_at: z.string().describe('When this was read, ISO 8601'),
    account_mode: z.string().describe('How balances are unified, as `userAbstraction` says it'),
    total_quote: Amount.describe('Of all pages, without what has no price'),
    items: z.array(Row).describe('Tokens first, then accounts on DEXes'),
    pagination: z
      .object({
        has_more: z.boolean().describe('Whether a page follows'),
        page_number: z.int().describe('From 0 on'),
        page_size: z.int().describe('Rows of a page'),
        total_count: z.int().describe('Rows in all'),
      })
      .describe('Which page this is'),
  })
  .meta({ id: 'Balances' })

const UNAVAILABLE: Failure = {
  kind: 'unavailable',
  what: 'The exchange cannot be asked for balances now',
  retryAfterMs: 1_000,
}

export const balances = defineEndpoint({
  id: 'balances',
  route: 'GET /v1/{chain}/address/{address}/balances_v2/',
  summary: 'What a wallet has, in US dollars',
  description:
    'Spot balances and the equity on every perp DEX, of the exchange’s own chain. Of a chain with a data service behind ' +
    'it the answer is that service’s, whose fields are its own.',
  auth: 'key',
  product: 'data',
  price: ONE_CREDIT,
  params: {
    ...CHAIN_PARAMS,
    address: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')
      .describe('Address of the wallet'),
  },
  query: z.strictObject({
    'page-number': wholeNumber(0, PAGES_MAX).default(0).describe('From 0 on'),
    'page-size': wholeNumber(1, 1_000).default(PAGE_SIZE).describe('Rows of a page, up to 1,000; 100 unless said'),
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
      const answer = await serviced
      return answer.ok ? reply(200, answer.value as never, { contentType: 'application/json' }) : answer
    }
    if (chain !== platform.chain) return err(unknownChain(chain, platform))
    const held = await holdingsOf(address, (request) => platform.read(request, identity.account))
    if (!held.ok) return held
    const { rows, mode } = held.value
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
  const held = parsedJson(PortfolioParts, state)
  const pairs = parsedJson(Pairs, meta)
  if (held === null || pairs === null) return err(UNAVAILABLE)
  const { clearinghouseState: perps, spotClearinghouseState: spot, userAbstraction: abstraction } = held
  const prices = { pairs: pairs.universe, mids: parsedJson(Mids, mids) ?? {} }
  return ok({ rows: balanceRows({ spot, perps, abstraction }, prices), mode: abstraction })
}

/** Null where it cannot be had, or is something else. */
function parsedJson<T>(schema: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null)
}
