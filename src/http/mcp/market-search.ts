// Finds markets by symbol, company or keyword. Invariant: text by deployers is compared and returned, never interpreted.

import { dexOf } from '../../core/coin.ts'

/** Markets of one perp DEX. */
export interface PerpListing {
  readonly universe: readonly { readonly name: string; readonly maxLeverage?: number; readonly isDelisted?: boolean }[]
}

export interface SpotListing {
  readonly tokens: readonly { readonly index: number; readonly name: string; readonly fullName?: string | null }[]
  readonly universe: readonly { readonly name: string; readonly tokens: readonly [base: number, quote: number] }[]
}

interface Annotation {
  readonly category?: string
  readonly displayName?: string
  readonly keywords?: readonly string[]
}

interface FoundMarket {
  readonly coin: string
  readonly kind: 'perp' | 'spot'
  readonly dex?: string
  /** Symbol of a spot pair, such as `HYPE/USDC`. */
  readonly symbol?: string
  readonly name?: string
  readonly category?: string
  readonly keywords?: readonly string[]
  readonly max_leverage?: number
  readonly is_delisted?: true
}

export function marketsOf(
  perps: readonly PerpListing[],
  spot: SpotListing,
  annotations: readonly (readonly [coin: string, annotation: Annotation])[],
): FoundMarket[] {
  const annotated = new Map(annotations)
  const tokens = new Map(spot.tokens.map((token) => [token.index, token]))
  return [
    ...perps.flatMap(({ universe }) => universe.map((market) => perpOf(market, annotated.get(market.name)))),
    ...spot.universe.map(({ name: coin, tokens: [base, quote] }): FoundMarket => {
      const token = tokens.get(base)
      const symbol = token && `${token.name}/${tokens.get(quote)?.name ?? '?'}`
      return { coin, kind: 'spot', ...(symbol && { symbol }), ...(token?.fullName && { name: token.fullName }) }
    }),
  ]
}

function perpOf(
  { name, maxLeverage, isDelisted }: PerpListing['universe'][number],
  text: Annotation = {},
): FoundMarket {
  const { displayName, category, keywords } = text
  return {
    coin: name,
    kind: 'perp',
    dex: dexOf(name),
    ...(displayName && { name: displayName }),
    ...(category && { category }),
    ...(keywords && { keywords }),
    ...(maxLeverage !== undefined && { max_leverage: maxLeverage }),
    ...(isDelisted && { is_delisted: true }),
  }
}

/** Markets that match the query, best first; delisted ones last among equals. */
export function foundMarkets(markets: readonly FoundMarket[], query: string): FoundMarket[] {
  const text = query.trim().toLowerCase()
  return markets
    .map((market) => ({ market, rank: rankOf(market, text) }))
    .filter(({ rank }) => rank < NO_MATCH)
    .sort((a, b) => a.rank - b.rank || Number(a.market.is_delisted ?? false) - Number(b.market.is_delisted ?? false))
    .map(({ market }) => market)
}

const NO_MATCH = 5

/** 0: the symbol itself; then its start, name or keyword, category, and part of any of them. */
function rankOf({ coin, dex, symbol, name, category, keywords = [] }: FoundMarket, text: string): number {
  const symbols = [coin, dex ? coin.slice(dex.length + 1) : coin, symbol ?? coin, symbol?.split('/')[0] ?? coin]
  const lower = symbols.map((each) => each.toLowerCase())
  const words = [name ?? '', ...keywords].map((each) => each.toLowerCase())
  if (lower.includes(text)) return 0
  if (words.includes(text)) return 1
  if (lower.some((each) => each.startsWith(text))) return 2
  if (category?.toLowerCase() === text) return 3
  return [...lower, ...words].some((each) => each.includes(text)) ? 4 : NO_MATCH
}
