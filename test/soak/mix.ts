// Who the clients of a soak are: kinds in the shares of a busy day, accounts that are small enough to feel their limits,
// and the bodies that each subscribes to. Law: the same seed makes the same clients.

import type { SubscriptionBody } from '../../src/client/subscription.ts'
import type { Prng } from '../../src/devnet/exchange/prng.ts'

interface Share {
  readonly of500: number
  /** Clients of one account; each has a key of its own. */
  readonly perAccount: number
}

/** What public SDKs do not prove is bounded by account, so that those of the raw kinds are small. */
const SHARES = {
  /** Our client with books of all coins. */
  wildcard: { of500: 2, perAccount: 2 },
  /** The same as a public SDK would: pings without a nonce. */
  rawWildcard: { of500: 2, perAccount: 1 },
  list: { of500: 66, perAccount: 15 },
  rawList: { of500: 50, perAccount: 4 },
  events: { of500: 105, perAccount: 27 },
  rawEvents: { of500: 95, perAccount: 19 },
  info: { of500: 100, perAccount: 25 },
  /** Reads for a second, then rests for some. */
  slow: { of500: 15, perAccount: 5 },
  /** Pings and never reads. */
  mute: { of500: 10, perAccount: 5 },
  /** Connects, subscribes and vanishes, over again. */
  vanisher: { of500: 25, perAccount: 13 },
  /** Its credits end within minutes. */
  poor: { of500: 30, perAccount: 10 },
} as const satisfies Readonly<Record<string, Share>>

export type Kind = keyof typeof SHARES
/** Kinds that want to be live all the time. */
export const WANTING: readonly Kind[] = ['wildcard', 'rawWildcard', 'list', 'rawList', 'events', 'rawEvents', 'info']
const POOR_CREDITS = 40
const RICH_CREDITS = 10_000_000
/** Coins that change most come first in a list of them all. */
const BUSY = 60
/** What one that never reads asks for: as much as goes. */
const MUTE_COINS = 12

export interface ClientPlan {
  readonly number: number
  readonly kind: Kind
  readonly account: string
  readonly bodies: readonly SubscriptionBody[]
}

/** Credits that an account begins with. */
export function creditsOf(account: string): number {
  return account.startsWith('poor') ? POOR_CREDITS : RICH_CREDITS
}

/** `coins`: all that there are, the busiest first; `wallets`: some that trade. */
export function mixOf(count: number, coins: readonly string[], wallets: readonly string[], chance: Prng): ClientPlan[] {
  const names = Object.keys(SHARES) as Kind[]
  const counts = new Map(names.map((kind) => [kind, Math.max(1, Math.floor((SHARES[kind].of500 * count) / 500))]))
  const rest = count - [...counts.values()].reduce((sum, each) => sum + each, 0)
  counts.set('rawEvents', Math.max(1, counts.get('rawEvents')! + rest))
  const kinds = names.flatMap((kind) => Array.from({ length: counts.get(kind)! }, (_, index) => ({ kind, index })))
  const pick = (from: readonly string[]) => from[chance.below(from.length)]!
  return kinds.map(({ kind, index }, number) => ({
    number,
    kind,
    account: `${kind}-${Math.floor(index / SHARES[kind].perAccount)}`,
    bodies: bodiesOf(kind, index, coins, wallets, pick),
  }))
}

function bodiesOf(
  kind: Kind,
  index: number,
  coins: readonly string[],
  wallets: readonly string[],
  pick: (from: readonly string[]) => string,
): SubscriptionBody[] {
  const busy = coins.slice(0, BUSY)
  const some = () => [...new Set([pick(busy), pick(coins), ...(index % 2 === 0 ? [pick(coins)] : [])])]
  switch (kind) {
    case 'info':
      return []
    case 'wildcard':
      return [{ type: index % 2 === 0 ? 'l2BookDiff' : 'l2BookDiff2', marketTypes: ['*'] }]
    case 'rawWildcard':
      return [{ type: 'l2BookDiff', marketTypes: ['*'] }]
    case 'list':
      return [{ type: index % 2 === 0 ? 'l2BookDiff' : 'l2BookDiff2', coin: some() }]
    case 'rawList':
    case 'slow':
      return [{ type: 'l2BookDiff', coin: some() }]
    case 'mute':
      return [{ type: 'l2BookDiff', coin: coins.slice(0, MUTE_COINS) }]
    case 'vanisher':
      return [{ type: 'l2BookDiff', coin: some() }, eventBody(index, busy, wallets, pick)]
    default:
      return [eventBody(index, busy, wallets, pick)]
  }
}

function eventBody(
  index: number,
  busy: readonly string[],
  wallets: readonly string[],
  pick: (from: readonly string[]) => string,
): SubscriptionBody {
  const addresses = [...new Set([pick(wallets), pick(wallets), pick(wallets)])]
  switch (index % 5) {
    case 0:
      return { type: 'userFills', addresses }
    case 1:
      return { type: 'userNonFundingLedgerUpdates', addresses }
    case 2:
      return { type: 'allFills', coin: pick(busy) }
    case 3:
      return { type: 'allFills' }
    default:
      return { type: 'trades', coin: pick(busy) }
  }
}
