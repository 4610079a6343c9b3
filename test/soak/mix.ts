// The clients of a soak: kinds in the proportions of a busy day, accounts small enough to reach their limits, and the
// bodies they subscribe to. Invariant: equal seeds give equal clients.

import type { SubscriptionBody } from '../../src/client/subscription.ts'
import { marketTypeOf } from '../../src/core/coin.ts'
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
  list: { of500: 56, perAccount: 14 },
  rawList: { of500: 40, perAccount: 4 },
  /** Our client, which loses no event over an interruption. */
  events: { of500: 84, perAccount: 21 },
  rawEvents: { of500: 77, perAccount: 19 },
  /** Tops, first levels, mids and candles. */
  views: { of500: 36, perAccount: 9 },
  viewWildcard: { of500: 1, perAccount: 1 },
  /** What info knows of users and markets. */
  states: { of500: 39, perAccount: 3 },
  /** Every order of a coin. */
  orders: { of500: 3, perAccount: 1 },
  info: { of500: 80, perAccount: 20 },
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
const UNWANTING: readonly Kind[] = ['slow', 'mute', 'vanisher', 'poor']
export const WANTING = (Object.keys(SHARES) as Kind[]).filter((kind) => !UNWANTING.includes(kind))
const POOR_CREDITS = 40
const RICH_CREDITS = 10_000_000
/** Coins that change most come first in a list of them all. */
const BUSY = 60
/** What one that never reads asks for: as much as goes. */
const MUTE_COINS = 12
const WILDCARD_MS = 5_000
const STATE_USERS = 3

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

export interface Listed {
  /** All, the busiest first. */
  readonly coins: readonly string[]
  /** Some that trade. */
  readonly wallets: readonly string[]
  /** Of them those who do not wait at a price: a maker's states change with every block, and each change costs a reading. */
  readonly takers: readonly string[]
  readonly builders: readonly string[]
}

export function mixOf(count: number, listed: Listed, chance: Prng): ClientPlan[] {
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
    bodies: bodiesOf(kind, index, listed, pick),
  }))
}

type Pick = (from: readonly string[]) => string

/** In the form in which they are acknowledged. */
function bodiesOf(kind: Kind, index: number, listed: Listed, pick: Pick): SubscriptionBody[] {
  const { coins } = listed
  const some = () => [...new Set([pick(busyOf(listed)), pick(coins), ...(index % 2 === 0 ? [pick(coins)] : [])])]
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
      return [{ type: 'l2BookDiff', coin: some() }, oneOf(EVENTS, index, listed, pick)]
    case 'rawEvents':
      return [oneOf(RAW_EVENTS, index, listed, pick)]
    case 'views':
      return [oneOf(VIEWS, index, listed, pick)]
    case 'viewWildcard':
      return [{ type: 'l2Book', marketTypes: ['*'], ...PLAIN, interval: WILDCARD_MS }]
    case 'orders':
      return [{ type: 'l4Book', coin: [coins[0]!, coins.at(-1)!, pick(coins)][index % 3]! }]
    case 'states':
      return [oneOf(STATES, index, { ...listed, wallets: listed.takers.slice(0, STATE_USERS) }, pick)]
    default:
      return [oneOf(EVENTS, index, listed, pick)]
  }
}

type Make = (listed: Listed, pick: Pick) => SubscriptionBody

function oneOf(bodies: readonly Make[], index: number, listed: Listed, pick: Pick): SubscriptionBody {
  return bodies[index % bodies.length]!(listed, pick)
}

const busyOf = ({ coins }: Listed) => coins.slice(0, BUSY)
/** The exchange lists none of the sides of outcomes: who asks for one is told that it cannot be read. */
const hasContext = (coin: string) => marketTypeOf(coin) !== 'outcome'
const three = ({ wallets }: Listed, pick: Pick) => [...new Set([pick(wallets), pick(wallets), pick(wallets)])]
const PLAIN = { nSigFigs: null, mantissa: null, fast: false }

/** Those that are told again after an interruption. */
const EVENTS: readonly Make[] = [
  (all, pick) => ({ type: 'userFills', addresses: three(all, pick) }),
  (all, pick) => ({ type: 'userNonFundingLedgerUpdates', addresses: three(all, pick) }),
  (all, pick) => ({ type: 'allFills', coin: pick(busyOf(all)) }),
  () => ({ type: 'allFills' }),
  (all, pick) => ({ type: 'trades', coin: pick(busyOf(all)) }),
  ({ builders }, pick) => ({ type: 'builderFills', builder: pick(builders) }),
  () => ({ type: 'liquidationFills' }),
]

const RAW_EVENTS: readonly Make[] = [
  ...EVENTS,
  (all, pick) => ({ type: 'orderUpdates', addresses: three(all, pick) }),
  ({ wallets }, pick) => ({ type: 'orderUpdates', user: pick(wallets) }),
  ({ wallets }, pick) => ({ type: 'userEvents', user: pick(wallets) }),
]

const VIEWS: readonly Make[] = [
  (all, pick) => ({ type: 'bbo', coin: pick(busyOf(all)) }),
  (all, pick) => ({ type: 'candle', interval: '1m', coin: pick(busyOf(all)) }),
  (all, pick) => ({ type: 'l2Book', coin: pick(busyOf(all)), ...PLAIN }),
  () => ({ type: 'allMids' }),
  ({ coins }, pick) => ({ type: 'bbo', coin: pick(coins) }),
  ({ coins: [first] }) => ({ type: 'candle', interval: '1m', coin: first! }),
  (all, pick) => ({ type: 'l2Book', coin: pick(busyOf(all)), nSigFigs: 4, mantissa: null, fast: false, interval: 0 }),
  (all, pick) => ({ type: 'l2Book', coin: pick(busyOf(all)), nSigFigs: null, mantissa: null, fast: true }),
]

const STATES: readonly Make[] = [
  (all, pick) => ({ type: 'activeAssetCtx', coin: pick(busyOf(all).filter(hasContext)) }),
  ({ wallets }, pick) => ({ type: 'clearinghouseState', user: pick(wallets), dex: '' }),
  ({ wallets }, pick) => ({ type: 'openOrders', user: pick(wallets), dex: '' }),
  () => ({ type: 'assetCtxs', dex: '' }),
  ({ wallets }, pick) => ({ type: 'webData3', user: pick(wallets) }),
  ({ wallets }, pick) => ({ type: 'webData2', user: pick(wallets) }),
]
