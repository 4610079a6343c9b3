// The name that was probably meant by one that nobody has. Used once a name is known to be nobody's, never before. Laws:
// only a name of the list is answered; names that share no meaning and few letters are not near.
// biome-ignore-all lint/style/noNonNullAssertion: the rows of the distance are as long as the texts; this is the inner loop.

import type { Coin } from './coin.ts'

/** Words by which APIs call the same thing; the first that is there is meant. */
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
/** Nobody misspells a longer one. */
const NAME_MAX_LENGTH = 64
const DISTANCE_MAX = 3
/** What other exchanges write behind the name of a perp. */
const PERP_SUFFIX = /[-_]?(?:usd[cth]?)?[-_]?(?:perp|swap)?$/

/** The nearest of `names`: of another case or form, of the same meaning, longer or shorter, or misspelt. */
export function nearestName(sent: string, names: readonly string[]): string | undefined {
  const wanted = normalizedName(sent)
  if (wanted === '' || sent.length > NAME_MAX_LENGTH) return undefined
  const meanings = SYNONYMS.filter((same) => same.some((name) => normalizedName(name) === wanted)).flat()
  return (
    names.find((name) => normalizedName(name) === wanted) ??
    meanings.find((name) => names.includes(name)) ??
    closestSpelling(wanted, names, normalizedName) ??
    names.find((name) => isPrefix(wanted, normalizedName(name)) || isPrefix(normalizedName(name), wanted))
  )
}

/** The nearest of the exchange's coins: of another case, without its DEX, as other exchanges write it, or misspelt. */
export function nearestCoin(sent: string, coins: readonly string[]): string | undefined {
  if (sent.length > NAME_MAX_LENGTH) return undefined
  const lower = (coin: Coin) => coin.toLowerCase()
  const wanted = lower(sent)
  const perp = wanted.replace(PERP_SUFFIX, '')
  for (const name of perp === '' ? [wanted] : [wanted, perp]) {
    const same = coins.find((coin) => lower(coin) === name) ?? coins.find((coin) => lower(coin).endsWith(`:${name}`))
    if (same !== undefined) return same
  }
  // A number is not misspelt: each is another market.
  return /^[@#]/.test(wanted) ? undefined : closestSpelling(wanted, coins, lower)
}

/** A name, in whichever case and form it is spelled. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ .]/g, '')
}

function isPrefix(short: string, long: string): boolean {
  return short.length >= 4 && long.startsWith(short)
}

/** One slip for each four letters. */
function closestSpelling(wanted: string, names: readonly string[], form: (name: string) => string): string | undefined {
  let best: string | undefined
  let bound = DISTANCE_MAX + 1
  for (const name of names) {
    const other = form(name)
    const most = Math.min(bound - 1, Math.floor(Math.max(other.length, wanted.length) / 4))
    if (Math.abs(other.length - wanted.length) > most) continue
    const slips = editDistance(wanted, other, most)
    if (slips > most) continue
    best = name
    bound = slips
  }
  return best
}

/** Letters to add, leave out, change or swap with the next (optimal string alignment); beyond `most` any number. */
function editDistance(a: string, b: string, most: number): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  let before: number[] = []
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, change, isSwap ? before[j - 2]! + 1 : change)
      least = Math.min(least, row[j]!)
    }
    // No later row has less: a swap reaches back over this one, to one that is at most a slip below it.
    if (least > most) return least
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}
