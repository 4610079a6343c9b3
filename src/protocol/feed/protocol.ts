// Feed protocol between a feeder and the gateway on WebSocket /feed: JSON frames of at most FRAME_MAX_BYTES.
// parts.ts splits longer frames.

import * as z from 'zod'
import { Address, Block, BookChange, CoinName, Decimal, Height, Millis } from './block.ts'

export const FEED_PROTOCOL = 1
/** 512 KiB: half of the 1 MiB limit of the platform's hibernating sockets. */
export const FRAME_MAX_BYTES = 512 * 1024

const part = { part: z.int().min(0).optional(), parts: z.int().min(1).max(4096).optional() }

/** First frame of a connection. The feeder can send the heights from `first` (null: none yet) to `head`. */
export const Hello = z.strictObject({
  type: z.literal('hello'),
  protocol: z.literal(FEED_PROTOCOL),
  chain: z.string().min(1).max(32),
  feeder: z.string().min(1).max(64),
  first: Height.nullable(),
  head: Height.nullable(),
})
export type Hello = z.infer<typeof Hello>

/**
 * Full books after block `height`. `scope: 'all'` seeds every coin; a coin that is not listed has no book. `scope:
 * 'coins'` responds to a `reseed` and covers only the listed coins.
 */
export const SnapshotFrame = z.strictObject({
  type: z.literal('snapshot'),
  scope: z.enum(['all', 'coins']),
  height: Height,
  time: Millis,
  books: z.array(BookChange.omit({ new: true })),
  ...part,
})
export type SnapshotFrame = z.infer<typeof SnapshotFrame>

export const BlockFrame = z.strictObject({ type: z.literal('block'), ...Block.shape, ...part })
export type BlockFrame = z.infer<typeof BlockFrame>

/** The node has deleted its files of heights below `first`. Those that were never sent are a gap. */
const Gone = z.strictObject({ type: z.literal('gone'), first: Height })

/** Interval of a feeder's pulses. */
export const PULSE_MS = 2000
/** `state` of a feeder that is not ready to send, for example while it waits for the node's books. */
export const STATE_POSITIONING = 'finding its place'

const Count = z.int().min(0)

/**
 * Status of a feeder, sent with or without new blocks. `now` is the feeder's clock. `head` and `time` are the height
 * and node time of the newest block it has read; null if it has read none. `state` is shown on the public `/status`.
 */
export const Pulse = z.strictObject({
  type: z.literal('pulse'),
  now: Millis,
  head: Height.nullable(),
  time: Millis.nullable(),
  state: z
    .string()
    .max(64)
    .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII'),
  unacked: Count,
  reconnects: Count,
  misfits: Count,
  drifted: Count,
  gaps: Count,
  refusedEvents: Count,
  /**
   * `stallMs` is the longest stall in the last second, `stalls` the number of seconds with a stall, and `lateLines` the
   * number of lines that came too late.
   */
  stallMs: Count,
  stalls: Count,
  lateLines: Count,
})
export type Pulse = z.infer<typeof Pulse>

/** Maximum number of coins in a frame of digests. */
export const VERIFIED_MAX = 4096

/**
 * Book digests (level-digest.ts) after block `height`, for coins whose books the feeder has checked against its node's
 * snapshot. The frame follows the block of that height.
 */
const Verified = z.strictObject({
  type: z.literal('verified'),
  height: Height,
  books: z.array(z.strictObject({ coin: CoinName, digest: z.int().min(0) })).max(VERIFIED_MAX),
})
export type Verified = z.infer<typeof Verified>

/** An order as written by the node. Only the fields needed to maintain its book are listed. */
const L4Order: z.ZodType<unknown> = z.looseObject({
  oid: z.int(),
  side: z.enum(['B', 'A']),
  limitPx: Decimal,
  sz: Decimal,
})

/**
 * One part of a coin's orders after block `height`, which was already sent. All bids come first, then all asks. Each
 * side has the best price first, and at each price the oldest order first. Each order has its `user` and the fields of
 * the node's snapshot except `children` and `origSz`. Blocks may come between parts. Part 0 starts over.
 */
const L4Book = z.strictObject({
  type: z.literal('l4'),
  coin: CoinName,
  height: Height,
  time: Millis,
  bids: z.array(L4Order),
  asks: z.array(L4Order),
  part: z.int().min(0),
  parts: z.int().min(1).max(4096),
})
export type L4Book = z.infer<typeof L4Book>

export const FeederFrame = z.discriminatedUnion('type', [
  Hello,
  SnapshotFrame,
  BlockFrame,
  Gone,
  Pulse,
  Verified,
  L4Book,
])
export type FeederFrame = z.infer<typeof FeederFrame>

/**
 * `height` is the last durable height; null while the log is empty. If `epoch` is null, no books are known and the
 * feeder must send a snapshot.
 */
const Welcome = z.strictObject({
  type: z.literal('welcome'),
  epoch: z.string().nullable(),
  height: Height.nullable(),
})

/** Maximum total number of watched wallets. */
export const WATCHED_WALLETS_MAX = 100_000
/** Maximum number of wallets in each list of a frame. Two lists take 450 KB. */
export const WALLETS_PER_FRAME = 5_000
const Wallets = z.array(Address).max(WALLETS_PER_FRAME)
/** Maximum number of coins with order-level rows. */
export const L4_COINS_MAX = 512
const L4Coins = z.array(CoinName).max(L4_COINS_MAX)

/**
 * Changes which wallets' order statuses and which coins' rows (`l4`) the feeder must send. `whole` replaces both
 * selections; more frames without `whole` may follow. The selection also applies to later connections. The frame
 * precedes the welcome, so that no block is created without the selection.
 */
const WantFrame = z.object({
  type: z.literal('want'),
  whole: z.literal(true).optional(),
  orders: z.strictObject({ add: Wallets, drop: Wallets }),
  l4: z.strictObject({ add: L4Coins, drop: L4Coins }).optional(),
  /** Set if this connection accepts funding payments. A gateway that does not set it rejects them. */
  payments: z.literal(true).optional(),
  /**
   * Names of the extra parts of a block that are wanted on this connection: `oracle`, `writer`, and while a reader needs
   * it, `replica`. If present, it replaces the earlier list. Others may follow.
   */
  extras: z.array(z.string().max(32)).max(16).optional(),
})
export type WantFrame = z.infer<typeof WantFrame>

/** All blocks up to `height` are durable. */
const Ack = z.strictObject({ type: z.literal('ack'), height: Height })
/** Asks the feeder to send again, starting at `from`. All other frames are ignored until that block comes. */
const Resend = z.strictObject({ type: z.literal('resend'), from: Height })
/** Asks for a `snapshot` with scope `coins` after the last sent block. If `coins` is null, the scope is `all`. */
const Reseed = z.strictObject({
  type: z.literal('reseed'),
  coins: z.array(z.string()).nullable(),
  reason: z.string(),
})
/**
 * Asks for all orders (`l4`) of these coins, which must be selected. The feeder uses a node snapshot that is no older
 * than the last sent block. All rows of the coin since that snapshot must have been sent. The request applies to this
 * connection. Repeating it before part 0 changes nothing.
 */
const L4Reseed = z.strictObject({ type: z.literal('l4Reseed'), coins: L4Coins })
const Slow = z.strictObject({ type: z.literal('slow'), retryMs: z.int().min(0) })
/** The feeder's node does not continue this log. This is final until an operator resets the feed. */
const Conflict = z.strictObject({ type: z.literal('conflict'), reason: z.string() })
/** A frame was rejected and not applied. `field` is a dotted path. */
const FeedError = z.strictObject({ type: z.literal('error'), field: z.string(), message: z.string() })

export const GatewayFrame = z.discriminatedUnion('type', [
  Welcome,
  WantFrame,
  Ack,
  Resend,
  Reseed,
  L4Reseed,
  Slow,
  Conflict,
  FeedError,
])
export type GatewayFrame = z.infer<typeof GatewayFrame>
