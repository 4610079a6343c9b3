// The list of markets with their prices. Invariant: a market with unreadable numbers is listed without them.

export interface Market {
  readonly coin: string
  /** Display name; for spot pairs the two tokens. */
  readonly name: string
  readonly price: number
  /** Price 24 hours ago. */
  readonly dayAgoPrice: number
  /** Notional volume of the last 24 hours in dollars. */
  readonly volume: number
  /** Hourly funding rate; NaN for spot. */
  readonly funding: number
  /** Last price change in Unix ms; NaN if none was seen. */
  readonly changedMs: number
}

interface WireContext {
  readonly midPx?: string | null
  readonly markPx?: string
  readonly prevDayPx?: string
  readonly dayNtlVlm?: string
  readonly funding?: string
  readonly coin?: string
}

const parseNumber = (text: string | null | undefined) => (text == null ? Number.NaN : Number(text))

const marketOf = (coin: string, name: string, context: WireContext | undefined): Market => ({
  coin,
  name,
  price: parseNumber(context?.midPx ?? context?.markPx),
  dayAgoPrice: parseNumber(context?.prevDayPx),
  volume: parseNumber(context?.dayNtlVlm),
  funding: parseNumber(context?.funding),
  changedMs: Number.NaN,
})

/** Markets from a metaAndAssetCtxs response. */
export function perpMarkets([{ universe }, contexts]: readonly [
  { readonly universe: readonly { readonly name: string; readonly isDelisted?: boolean }[] },
  readonly WireContext[],
]): Market[] {
  return universe.flatMap(({ name, isDelisted }, at) => (isDelisted ? [] : [marketOf(name, name, contexts[at])]))
}

/** Markets from a spotMetaAndAssetCtxs response. */
export function spotMarkets([{ universe, tokens }, contexts]: readonly [
  {
    readonly universe: readonly { readonly name: string; readonly tokens: readonly number[] }[]
    readonly tokens: readonly { readonly name: string; readonly index: number }[]
  },
  readonly WireContext[],
]): Market[] {
  const names = new Map(tokens.map(({ name, index }) => [index, name]))
  const byCoin = new Map(contexts.map((context) => [context.coin, context]))
  return universe.map(({ name, tokens: pair }) => {
    const shown = pair.map((index) => names.get(index) ?? '?').join('/')
    return marketOf(name, shown || name, byCoin.get(name))
  })
}

/** Markets of a token for some coins; their own channels bring the prices. */
export function namedMarkets(coins: readonly string[]): Market[] {
  return coins.map((coin) => marketOf(coin, coin, undefined))
}

/** The list with a new context for one market. */
export function withContext(markets: readonly Market[], coin: string, context: WireContext, nowMs: number): Market[] {
  return markets.map((market) => {
    if (market.coin !== coin) return market
    const next = marketOf(coin, market.name, context)
    return { ...next, changedMs: next.price === market.price ? market.changedMs : nowMs }
  })
}

/** The list with new mid prices by coin; the same array if nothing changed. */
export function withMids(
  markets: readonly Market[],
  mids: Readonly<Record<string, string>>,
  nowMs: number,
): readonly Market[] {
  let isChanged = false
  const next = markets.map((market) => {
    const mid = Object.hasOwn(mids, market.coin) ? Number(mids[market.coin]) : Number.NaN
    if (!(mid > 0) || mid === market.price) return market
    isChanged = true
    return { ...market, price: mid, changedMs: Number.isNaN(market.price) ? market.changedMs : nowMs }
  })
  return isChanged ? next : markets
}

/** A new listing that keeps the known prices. */
export function mergeListing(before: readonly Market[], listed: readonly Market[]): Market[] {
  const known = new Map(before.map((market) => [market.coin, market]))
  return listed.map((market) => {
    const last = known.get(market.coin)
    return last && last.price > 0 ? { ...market, price: last.price, changedMs: last.changedMs } : market
  })
}

/** Markets whose coin or name contains the filter text, by volume. */
export function filterMarkets(markets: readonly Market[], filter: string, maxRows: number): Market[] {
  const word = filter.trim().toLowerCase()
  const matching = markets.filter(({ coin, name }) => `${coin} ${name}`.toLowerCase().includes(word))
  const size = ({ volume }: Market) => (Number.isFinite(volume) ? volume : -1)
  return matching.sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1)).slice(0, maxRows)
}
