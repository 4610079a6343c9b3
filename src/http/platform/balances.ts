// What a wallet of the exchange has, in dollars: spot balances at the middle of their books, and what each perp DEX holds
// for it. Law: exact, nothing is rounded but below the eighteenth decimal; what has no price has no quote.

import * as z from 'zod'
import { fromScaled, SCALE_DECIMALS, toScaled, trimDecimal } from '../../core/decimal.ts'
import { Decimal } from '../../protocol/feed/block.ts'

// Parts of info answers that matter here, which come from outside as they are.

const SpotBalance = z.object({ coin: z.string(), token: z.int().optional(), total: Decimal, hold: Decimal })
type SpotBalance = z.infer<typeof SpotBalance>

const PerpAccount = z.object({
  marginSummary: z.object({ accountValue: Decimal, totalMarginUsed: Decimal }),
  assetPositions: z.array(z.object({ position: z.object({ unrealizedPnl: Decimal }) })),
})
type PerpAccount = z.infer<typeof PerpAccount>

/** Of `portfolioState`. A DEX that has an error in place of its account is none of these: left out it would read as one without money. */
export const Held = z.object({
  /** By name of the DEX, the main one as `native`. */
  clearinghouseState: z.record(z.string(), PerpAccount),
  spotClearinghouseState: z.object({ balances: z.array(SpotBalance) }),
  userAbstraction: z.string(),
})
/** Of `allMids`, by name of the market. */
export const Mids = z.record(z.string(), Decimal)
/** Of `spotMeta`. */
export const Pairs = z.object({
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
  readonly coin: string
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
function outcomeRate(coin: string, { mids }: Prices): string | null {
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

function midOf(mids: Prices['mids'], coin: string): string | null {
  const mid = Object.hasOwn(mids, coin) ? mids[coin] : undefined
  return mid === undefined ? null : trimDecimal(mid)
}

function unrealized({ assetPositions }: PerpAccount): string {
  return fromScaled(assetPositions.reduce((sum, { position }) => sum + toScaled(position.unrealizedPnl), 0n))
}

function product(amount: string, rate: string): string {
  return fromScaled((toScaled(amount) * toScaled(rate)) / UNIT)
}
