// A block: all data of one height, as sent on the feed and stored in the log. Wire strings stay as the node wrote them;
// unknown fields of fills and deltas pass through.

import * as z from 'zod'
import { COIN_MAX_LENGTH } from '../../core/coin.ts'
import { DECIMAL, UNSIGNED_DECIMAL } from '../../core/decimal.ts'
import { Payments } from './payments.ts'

export const Address = z.string().regex(/^0x[0-9a-f]{40}$/, 'must be 0x and 40 lower-case hex digits')
/** Accepts a plain string, but no id of a different kind. */
export type Address = string & { readonly unit?: 'address' }
/** Decimal string, signed. */
export const Decimal = z.string().regex(DECIMAL, 'must be a decimal string')
/** Transaction hash. It is all zeros for actions of the exchange itself. */
export const TxHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, 'must be 0x and 64 lower-case hex digits')
  .describe('Transaction hash; zeros for actions of the exchange itself')
/** Coin names contain no control characters, because objects exchange them in tab-separated frames. */
export const CoinName = z
  .string()
  .min(1)
  .max(COIN_MAX_LENGTH)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
export const Height = z.int().min(0)
export const Millis = z.int().min(0)

/** One price level. `sz` is its total size, not a difference. A `sz` of `"0"` with an `n` of 0 removes the level. */
export const Level = z.strictObject({
  px: z.string().regex(UNSIGNED_DECIMAL, 'must be a decimal string'),
  sz: z.string().regex(UNSIGNED_DECIMAL, 'must be a decimal string'),
  n: z.int().min(0).describe('Orders at this price; 0 with size `"0"`: level removed'),
})
export type Level = z.infer<typeof Level>

/** `[bids, asks]`. */
export const Levels = z.tuple([
  z.array(Level).describe('Bids, best first'),
  z.array(Level).describe('Asks, best first'),
])
export type Levels = z.infer<typeof Levels>

/**
 * Net changes of one coin's book in one block. Each level has its new total size. `new` is set if the coin had no book
 * earlier.
 */
export const BookChange = z.strictObject({ coin: CoinName, levels: Levels, new: z.literal(true).optional() })
export type BookChange = z.infer<typeof BookChange>

/** A fill as written by the node. Only the fields that Weir reads are listed. */
export const Fill = z.looseObject({
  coin: CoinName,
  px: z.string(),
  sz: z.string(),
  side: z.enum(['B', 'A']),
  time: Millis,
  startPosition: z.string(),
  dir: z.string(),
  closedPnl: z.string(),
  hash: z.string(),
  oid: z.int(),
  crossed: z.boolean(),
  fee: z.string(),
  tid: z.int(),
  feeToken: z.string(),
})
export type Fill = z.infer<typeof Fill>

/** `[executing wallet, fill]`. */
export const UserFill = z.tuple([Address.describe('Wallet of the fill'), Fill.describe('Fill')])
export type UserFill = z.infer<typeof UserFill>

/** A balance movement and the wallets involved. New values of `delta.type` may appear. */
export const LedgerEvent = z.strictObject({
  users: z.array(Address),
  time: Millis,
  hash: z.string(),
  delta: z.looseObject({ type: z.string() }),
})
export type LedgerEvent = z.infer<typeof LedgerEvent>

/**
 * Hourly funding of a coin in USDC per unit of size. If it is positive, longs pay. `time`: set if the funding is of an
 * earlier block, because its line came late.
 */
export const CoinFunding = z.strictObject({ coin: CoinName, perUnit: z.string(), time: Millis.optional() })
export type CoinFunding = z.infer<typeof CoinFunding>

/**
 * Rows that the node wrote about a coin's orders in one block, in order. `statuses` has the order statuses of all
 * wallets, `diffs` the raw book diffs.
 */
export const L4Rows = z.strictObject({ coin: CoinName, statuses: z.array(z.unknown()), diffs: z.array(z.unknown()) })
export type L4Rows = z.infer<typeof L4Rows>

export const Block = z.strictObject({
  height: Height,
  time: Millis,
  fills: z.array(UserFill),
  ledger: z.array(LedgerEvent),
  funding: z.array(CoinFunding),
  /** Other misc events, as written by the node. */
  events: z.array(z.unknown()).optional(),
  twaps: z.array(z.unknown()).optional(),
  /** Order statuses of the wallets requested by `want`, as written by the node. */
  orders: z.array(z.unknown()).optional(),
  /**
   * Rows of each coin requested by `want` when the block was created. The rows of a coin without an entry are unknown.
   */
  l4: z.array(L4Rows).optional(),
  /**
   * Funding payments of all wallets. If they are absent, the block paid no funding; but if `funding` has entries, the
   * block paid funding and the payers are unknown. Null if it is unknown whether the block paid funding.
   */
  payments: z.array(Payments).nullable().optional(),
  /**
   * Oracle updates of builder-deployed DEXes, and actions that HyperEVM transactions caused, as written by the node.
   * Absent if they are unknown, for example because the node does not write them. Empty if there are none. A late line
   * is in the block that followed its reading.
   */
  oracle: z.array(z.unknown()).optional(),
  writer: z.array(z.unknown()).optional(),
  /**
   * Signed actions of this and earlier blocks (replica-entries.ts). Absent if they were not requested, or the node does
   * not write them.
   */
  replica: z.array(z.unknown()).optional(),
  /** Null if the changes are unknown. All books are then unknown until the next snapshot. */
  books: z.array(BookChange).nullable(),
})
export type Block = z.infer<typeof Block>
