// Suggests the intended name for an unknown one. Invariants: only names from the list are suggested; names that
// have little in common with the unknown name are not suggested.
// biome-ignore-all lint/style/noNonNullAssertion: rows of the distance are as long as the strings; this is the inner
// loop.

import type { Coin } from './coin.ts'

/** Synonyms that other APIs use. The first synonym that exists is suggested. */
const SYNONYMS = [
  ['coin', 'coins', 'symbol', 'market', 'ticker', 'asset', 'instrument', 'pair'],
  ['user', 'account', 'wallet', 'address', 'owner', 'users', 'addresses'],
  ['users', 'addresses', 'wallets', 'accounts', 'user'],
  ['startTime', 'from', 'start', 'since'],
  ['endTime', 'to', 'end', 'until'],
  ['interval', 'resolution', 'timeframe', 'granularity'],
  ['expires', 'expiry', 'valid_until'],
  ['l2Book', 'l2BookDiff', 'orderbook', 'book', 'depth'],
  ['candleSnapshot', 'klines', 'ohlcv', 'bars'],
  ['userFills', 'fills', 'myTrades'],
]
/** Names longer than this are not compared. */
const NAME_MAX_LENGTH = 64
const DISTANCE_MAX = 3
/** Suffixes that other exchanges append to perps. */
const PERP_SUFFIX = /[-_]?(?:usd[cth]?)?[-_]?(?:perp|swap)?$/

/**
 * The closest name: the same letters in a different case or form, a synonym, a corrected misspelling, or a longer or
 * shorter name.
 */
export function nearestName(sent: string, names: readonly string[]): string | undefined {
  const target = normalizedName(sent)
  if (target === '' || sent.length > NAME_MAX_LENGTH) return undefined
  const meanings = SYNONYMS.filter((same) => same.some((name) => normalizedName(name) === target)).flat()
  return (
    names.find((name) => normalizedName(name) === target) ??
    meanings.find((name) => names.includes(name)) ??
    closestSpelling(target, names, normalizedName) ??
    names.find((name) => isPrefix(target, normalizedName(name)) || isPrefix(normalizedName(name), target))
  )
}

/**
 * The closest coin. The sent name may have a different case, no DEX prefix, another exchange's notation, or a
 * misspelling.
 */
export function nearestCoin(sent: string, coins: readonly string[]): string | undefined {
  if (sent.length > NAME_MAX_LENGTH) return undefined
  const lower = (coin: Coin) => coin.toLowerCase()
  const target = lower(sent)
  const perp = target.replace(PERP_SUFFIX, '')
  for (const name of perp === '' ? [target] : [target, perp]) {
    const same = coins.find((coin) => lower(coin) === name) ?? coins.find((coin) => lower(coin).endsWith(`:${name}`))
    if (same !== undefined) return same
  }
  // Numeric names are not misspellings: each number is a different market.
  return /^[@#]/.test(target) ? undefined : closestSpelling(target, coins, lower)
}

/** The name in lower case and without separators. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ .]/g, '')
}

function isPrefix(short: string, long: string): boolean {
  return short.length >= 4 && long.startsWith(short)
}

/** Finds the closest spelling. One edit per four letters is allowed. */
function closestSpelling(target: string, names: readonly string[], form: (name: string) => string): string | undefined {
  let best: string | undefined
  let bound = DISTANCE_MAX + 1
  for (const name of names) {
    const other = form(name)
    const max = Math.min(bound - 1, Math.floor(Math.max(other.length, target.length) / 4))
    if (Math.abs(other.length - target.length) > max) continue
    const slips = editDistance(target, other, max)
    if (slips > max) continue
    best = name
    bound = slips
  }
  return best
}

/**
 * Optimal string alignment distance, which counts insertions, deletions, replacements and swaps of neighbors. If the
 * result is above `max`, it is only a lower bound.
 */
function editDistance(a: string, b: string, max: number): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  let before: number[] = []
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let min = i
    for (let j = 1; j <= b.length; j++) {
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, change, isSwap ? before[j - 2]! + 1 : change)
      min = Math.min(min, row[j]!)
    }
    // No later row can have a smaller value. A swap refers to the row before this one, whose values are smaller by at
    // most 1.
    if (min > max) return min
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}
