// Fields of subscription bodies, and normal forms shared by several channels.

import * as z from 'zod'
import { MARKET_TYPES, type MarketType } from '../core/coin.ts'
import { inGroups } from '../core/digit-groups.ts'
import { type Address, CoinName } from '../protocol/feed/block.ts'

/** Maximum number of items in any list of a body. */
export const MAX_ITEMS = 1000

/** Accepts any letter case; returns lower case. */
export const WalletAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x followed by 40 hex digits')
  .transform((address) => address.toLowerCase())
  .describe('Wallet address in any letter case')
export const Wallets = z
  .array(WalletAddress)
  .min(1, 'must name at least one address')
  .max(MAX_ITEMS, `must have at most ${inGroups(MAX_ITEMS)} addresses. Split them over several subscriptions`)

export const MARKET = CoinName.describe(
  'Market: a perp such as `BTC` or `xyz:GOLD`, a spot pair such as `@107`, or an outcome such as `#41`',
)

/** Properties that all event channels of one user share. The body is the user's address. */
export function userBody<const Type extends string>(type: Type) {
  return {
    request: z.strictObject({ type: z.literal(type), user: WalletAddress }).transform(({ user }) => user),
    echo: (user: Address) => ({ type, user }),
    by: 'address',
    names: (user: Address) => [user],
  } as const
}

/** The three ways to send wallets. `walletsOf` reads the one that was sent. */
export const WALLET_FIELDS = {
  addresses: Wallets.optional().describe(
    'Wallet addresses in any letter case. Send exactly one of `addresses`, `users` and `user`',
  ),
  users: Wallets.optional().describe('Same as `addresses`'),
  user: WalletAddress.optional(),
}

interface SentWallets {
  readonly addresses?: string[] | undefined
  readonly users?: string[] | undefined
  readonly user?: Address | undefined
}

const countForms = ({ addresses, users, user }: SentWallets) =>
  [addresses, users, user].filter((form) => form !== undefined).length

/** Rejects a body that names its wallets in more than one form, or in none. */
export function requireOneWalletForm(sent: SentWallets, context: z.RefinementCtx): void {
  if (countForms(sent) === 1) return
  const message = 'send exactly one of addresses (list), users (list), user (string)'
  context.addIssue({ code: 'custom', path: ['addresses'], message })
}

/** Rejects a body that names its wallets in more than one form. */
export function rejectSeveralWalletForms(sent: SentWallets, context: z.RefinementCtx): void {
  if (countForms(sent) < 2) return
  const message = 'send at most one of addresses (list), users (list), user (string)'
  context.addIssue({ code: 'custom', path: ['addresses'], message })
}

/** Returns distinct addresses in lower case. */
export function walletsOf({ addresses, users, user }: SentWallets): readonly string[] {
  return [...new Set(addresses ?? users ?? (user === undefined ? [] : [user]))]
}

/** Merges the partial fills of one order within a block. */
export const AggregateByTime = z.boolean().optional()

/** Market types of a wildcard; `marketTypesOf` reads them. */
export const MarketTypes = z
  .array(z.enum([...MARKET_TYPES, '*'], `must be one of ${[...MARKET_TYPES, '*'].join(', ')}`))
  .min(1, 'must name at least one market type')
  .max(8)
  .optional()
  .describe('Market types, only without `coin`. `*`: all types, including future ones. Default: `["perp"]`')

/** `coins` is null for a wildcard over `types`. A list of coins has no types. */
export interface BookBody {
  readonly coins: readonly string[] | null
  readonly types: readonly MarketType[]
  /** True if each change carries the checksum of its book. */
  readonly checksum?: boolean | undefined
}

/** Returns the types in canonical order, or perps if the body names no types. */
export function marketTypesOf(requested: readonly (MarketType | '*')[] = ['perp']): MarketType[] {
  return MARKET_TYPES.filter((type) => requested.includes('*') || requested.includes(type))
}

/** Rejects a body that names both a coin and market types. */
export function rejectCoinWithTypes(
  { coin, marketTypes }: { readonly coin?: unknown; readonly marketTypes?: unknown },
  context: z.RefinementCtx,
): void {
  if (coin === undefined || marketTypes === undefined) return
  const message = 'valid only when coin is omitted. Leave one of the two out'
  context.addIssue({ code: 'custom', path: ['marketTypes'], message })
}

/** Minimum time between frames, in ms. */
const INTERVAL_MESSAGE = 'must be 0 (every block) to 60,000 milliseconds'
export const Interval = z.int(INTERVAL_MESSAGE).min(0, INTERVAL_MESSAGE).max(60_000, INTERVAL_MESSAGE)
/** Intervals are rounded up to one of these, so that similar bodies share frames. */
const SHARED_INTERVALS = [0, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]

/** Rounds up to the next shared interval. */
export function sharedInterval(requestedMs: number): number {
  return SHARED_INTERVALS.find((interval) => interval >= requestedMs) ?? 60_000
}
