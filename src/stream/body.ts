// Subscription bodies: what a client may ask for, and the one normal form that the relay works with.
// Law: a body with a field that is unknown here is refused, because an ignored typo would silently widen (and price) it.

import * as z from 'zod'
import type { MarketType } from '../core/coin.ts'
import { MARKET_TYPES } from '../core/coin.ts'
import type { Issue } from '../core/failure.ts'
import type { Result } from '../core/result.ts'
import { err, ok } from '../core/result.ts'
import { parseWith } from '../core/schema-words.ts'
import { CoinName } from '../feed/block.ts'

export const MAX_ADDRESSES = 1000
export const MAX_COINS = 1000

export const CHANNELS = ['userFills', 'userNonFundingLedgerUpdates', 'allFills', 'l2BookDiff', 'l2BookDiff2'] as const
export type Channel = (typeof CHANNELS)[number]

/** `addresses` are lower case and distinct. */
export interface UserBody {
  readonly type: 'userFills' | 'userNonFundingLedgerUpdates'
  readonly addresses: readonly string[]
  readonly aggregate: boolean
}
/** `coin` null: every market. */
export interface AllFillsBody {
  readonly type: 'allFills'
  readonly coin: string | null
  readonly aggregate: boolean
}
/** `coins` null: wildcard over `types`; a list of coins has no types. */
export interface BookBody {
  readonly type: 'l2BookDiff' | 'l2BookDiff2'
  readonly coins: readonly string[] | null
  readonly types: readonly MarketType[]
}
export type Body = UserBody | AllFillsBody | BookBody

const WalletAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .transform((address) => address.toLowerCase())
const Wallets = z
  .array(WalletAddress)
  .min(1, 'must name at least one address')
  .max(MAX_ADDRESSES, `at most ${MAX_ADDRESSES} addresses in one subscription: split them over several`)
const users = { addresses: Wallets.optional(), users: Wallets.optional(), user: WalletAddress.optional() }
const aggregateByTime = z.boolean().optional()
const Coins = z
  .array(CoinName)
  .min(1, 'must name at least one coin; leave "coin" out for every coin')
  .max(MAX_COINS, `at most ${MAX_COINS} coins in one list: leave "coin" out for every coin`)
  .refine((coins) => new Set(coins).size === coins.length, 'names a coin twice: list each coin once')
const MarketTypes = z
  .array(z.enum([...MARKET_TYPES, '*'], `must be one of ${[...MARKET_TYPES, '*'].join(', ')}`))
  .min(1, 'must name at least one market type')
  .max(8)
const book = {
  coin: z
    .union([CoinName, Coins], { error: 'must be a coin or a list of coins; leave it out for every coin' })
    .optional(),
  marketTypes: MarketTypes.optional(),
}

const SCHEMAS = {
  userFills: z.strictObject({ type: z.literal('userFills'), ...users, aggregateByTime }),
  userNonFundingLedgerUpdates: z.strictObject({ type: z.literal('userNonFundingLedgerUpdates'), ...users }),
  allFills: z.strictObject({ type: z.literal('allFills'), coin: CoinName.optional(), aggregateByTime }),
  l2BookDiff: z.strictObject({ type: z.literal('l2BookDiff'), ...book }),
  l2BookDiff2: z.strictObject({ type: z.literal('l2BookDiff2'), ...book }),
}

/** Normal form of the `subscription` object of a frame, or the first field that is wrong and what to send instead. */
export function parseBody(sent: { readonly type: string }): Result<Body, Issue> {
  if (!Object.hasOwn(SCHEMAS, sent.type)) {
    return err({ path: 'type', message: `unknown subscription type: use one of ${CHANNELS.join(', ')}` })
  }
  const parsed = parseWith<Parsed>(SCHEMAS[sent.type as Channel], sent)
  return parsed.ok ? normal(parsed.value) : err(parsed.error[0])
}

type Parsed = z.infer<(typeof SCHEMAS)[Channel]>

function normal(body: Parsed): Result<Body, Issue> {
  switch (body.type) {
    case 'userFills':
    case 'userNonFundingLedgerUpdates': {
      const given = [body.addresses, body.users, body.user].filter((form) => form !== undefined)
      if (given.length !== 1) {
        return err({ path: 'addresses', message: 'send exactly one of addresses (list), users (list), user (string)' })
      }
      const aggregate = body.type === 'userFills' && body.aggregateByTime === true
      return ok({ type: body.type, addresses: [...new Set([given[0]!].flat())], aggregate })
    }
    case 'allFills':
      return ok({ type: body.type, coin: body.coin ?? null, aggregate: body.aggregateByTime === true })
    case 'l2BookDiff':
    case 'l2BookDiff2': {
      if (body.coin !== undefined && body.marketTypes !== undefined) {
        return err({ path: 'marketTypes', message: 'valid only when coin is omitted: leave one of the two out' })
      }
      if (body.coin !== undefined) return ok({ type: body.type, coins: [body.coin].flat(), types: [] })
      const wanted = body.marketTypes ?? ['perp']
      const types = MARKET_TYPES.filter((type) => wanted.includes('*') || wanted.includes(type))
      return ok({ type: body.type, coins: null, types })
    }
  }
}
