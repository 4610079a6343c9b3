// The fields that subscription bodies are made of, and the normal forms that several channels share.

import * as z from 'zod'
import { MARKET_TYPES, type MarketType } from '../core/coin.ts'
import { type Address, CoinName } from '../protocol/feed/block.ts'

/** Items of any list in a body. */
export const MAX_ITEMS = 1000

/** In any case; comes out in lower case. */
export const WalletAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .transform((address) => address.toLowerCase())
  .describe('Address, in any letter case')
export const Wallets = z
  .array(WalletAddress)
  .min(1, 'must name at least one address')
  .max(MAX_ITEMS, `at most ${MAX_ITEMS} addresses in one subscription: split them over several`)

export const MARKET = CoinName.describe(
  'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, an outcome such as `#41`',
)

/** What channels of events of one user have in common: their body is the user's address. */
export function userBody<const Type extends string>(type: Type) {
  return {
    request: z.strictObject({ type: z.literal(type), user: WalletAddress }).transform(({ user }) => user),
    echo: (user: Address) => ({ type, user }),
    by: 'address',
    names: (user: Address) => [user],
  } as const
}

/** The three ways to write wallets; `walletsOf` reads the one that was sent. */
export const WALLET_FIELDS = {
  addresses: Wallets.optional().describe(
    'Wallets, in any letter case; send exactly one of `addresses`, `users` and `user`',
  ),
  users: Wallets.optional().describe('Same as `addresses`'),
  user: WalletAddress.optional(),
}

interface SentWallets {
  readonly addresses?: string[] | undefined
  readonly users?: string[] | undefined
  readonly user?: Address | undefined
}

/** Refuses a body that names its wallets in no way, or in several. */
export function requireOneWalletForm({ addresses, users, user }: SentWallets, context: z.RefinementCtx): void {
  if ([addresses, users, user].filter((form) => form !== undefined).length === 1) return
  const message = 'send exactly one of addresses (list), users (list), user (string)'
  context.addIssue({ code: 'custom', path: ['addresses'], message })
}

/** Lower case and distinct. */
export function walletsOf({ addresses, users, user }: SentWallets): readonly string[] {
  return [...new Set(addresses ?? users ?? (user === undefined ? [] : [user]))]
}

/** Partial fills of one order within one block become one. */
export const AggregateByTime = z.boolean().optional()

/** Of a wildcard; `typesOf` reads it. */
export const MarketTypes = z
  .array(z.enum([...MARKET_TYPES, '*'], `must be one of ${[...MARKET_TYPES, '*'].join(', ')}`))
  .min(1, 'must name at least one market type')
  .max(8)
  .optional()
  .describe('Market kinds, without `coin`; `*`: all, future ones included; absent: `["perp"]`')

/** `coins` null: wildcard over `types`; a list of coins has no types. */
export interface BookBody {
  readonly coins: readonly string[] | null
  readonly types: readonly MarketType[]
  /** Each change comes with the checksum of its book. */
  readonly checksum?: boolean | undefined
}

/** Perps where none are named, in the order of their list. */
export function marketTypesOf(wanted: readonly (MarketType | '*')[] = ['perp']): MarketType[] {
  return MARKET_TYPES.filter((type) => wanted.includes('*') || wanted.includes(type))
}

/** Refuses a body that names a coin and market types. */
export function rejectCoinWithTypes(
  { coin, marketTypes }: { readonly coin?: unknown; readonly marketTypes?: unknown },
  context: z.RefinementCtx,
): void {
  if (coin === undefined || marketTypes === undefined) return
  const message = 'valid only when coin is omitted: leave one of the two out'
  context.addIssue({ code: 'custom', path: ['marketTypes'], message })
}

/** How often a client wants to be told at most, in ms. */
const INTERVAL_MESSAGE = 'must be 0 (with each block) to 60000 milliseconds'
export const Interval = z.int(INTERVAL_MESSAGE).min(0, INTERVAL_MESSAGE).max(60_000, INTERVAL_MESSAGE)
/** Bodies that differ in little are shown the same. */
const SHARED_INTERVALS = [0, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]

/** The next longer of few intervals. */
export function sharedInterval(wantedMs: number): number {
  return SHARED_INTERVALS.find((interval) => interval >= wantedMs) ?? 60_000
}
