// The feed protocol: what a feeder and the gateway say to each other on WebSocket /feed.
// JSON text frames of at most FRAME_MAX_BYTES; longer ones are split by parts.ts.

import * as z from 'zod'
import { Address, Block, BookChange, CoinName, Decimal, Height, Millis } from './block.ts'

export const FEED_PROTOCOL = 1
/** 512 KiB: half of the 1 MiB at which the platform's hibernating sockets may refuse a frame. */
export const FRAME_MAX_BYTES = 512 * 1024

const part = { part: z.int().min(0).optional(), parts: z.int().min(1).max(4096).optional() }

/** Heights the feeder can send: `first` (null: none yet) to `head`. */
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
 * Whole books after block `height`. `scope: 'all'` seeds every coin (a coin not listed has no book);
 * `scope: 'coins'` answers a `reseed` and speaks of the listed coins alone.
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

/** Files before `first` no longer exist on the node: what lies between is a gap. */
const Gone = z.strictObject({ type: z.literal('gone'), first: Height })

/** So often a feeder says how it stands. */
export const PULSE_MS = 2000
/** The `state` of a feeder that is not ready to send, such as while it waits for the node's books. */
export const STATE_POSITIONING = 'finding its place'

const Count = z.int().min(0)

/**
 * What a feeder says of itself, whether or not blocks come. `now` is its clock; `head` and `time` (the node's) are of
 * the newest block that it has read, null before the first; `state` is shown on `/status`, which anybody may read.
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
  /** How long it stood still in its last second, in how many seconds it did, and lines that came too late. */
  stallMs: Count,
  stalls: Count,
  lateLines: Count,
})
export type Pulse = z.infer<typeof Pulse>

/** So many coins may stand in one frame of digests. */
export const VERIFIED_MAX = 4096

/**
 * Digests (level-digest.ts) of whole books after block `height`, of coins that the feeder has compared with its node's
 * own snapshot. It stands behind the block of that height.
 */
const Verified = z.strictObject({
  type: z.literal('verified'),
  height: Height,
  books: z.array(z.strictObject({ coin: CoinName, digest: z.int().min(0) })).max(VERIFIED_MAX),
})
export type Verified = z.infer<typeof Verified>

/** An order as the node writes it: the fields named here are those by which its book is kept. */
const L4Order: z.ZodType<unknown> = z.looseObject({
  oid: z.int(),
  side: z.enum(['B', 'A']),
  limitPx: Decimal,
  sz: Decimal,
})

/**
 * A run of the orders of a coin after block `height`, which was sent before: all bids, then all asks, best first, and the
 * oldest first at one price. Each has the fields of the node's own snapshot but `children` and `origSz`, and its `user`.
 * Blocks may stand between parts, and part 0 begins anew.
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

/** `height`: the last durable height, null where the log is empty; `epoch` null: no books are known, send a snapshot. */
const Welcome = z.strictObject({
  type: z.literal('welcome'),
  epoch: z.string().nullable(),
  height: Height.nullable(),
})

/** So many wallets may be wanted in all … */
export const WATCHED_WALLETS_MAX = 100_000
/** … and so many stand in each list of one frame: 450 KB of two. */
export const WALLETS_PER_FRAME = 5_000
const Wallets = z.array(Address).max(WALLETS_PER_FRAME)
/** So many coins may have their orders wanted. */
export const L4_COINS_MAX = 512
const L4Coins = z.array(CoinName).max(L4_COINS_MAX)

/**
 * Whose order statuses are wanted from now on, and whose no more; of `l4` coins, all rows. `whole`: nothing else is, of
 * either; more of the same may follow without it. It holds for later connections too, and comes before a welcome, so that no block is made without knowing.
 */
const WantFrame = z.object({
  type: z.literal('want'),
  whole: z.literal(true).optional(),
  orders: z.strictObject({ add: Wallets, drop: Wallets }),
  l4: z.strictObject({ add: L4Coins, drop: L4Coins }).optional(),
  /** Payments of funding are taken, on this connection: a gateway that does not say so would refuse them. */
  payments: z.literal(true).optional(),
})
export type WantFrame = z.infer<typeof WantFrame>

/** Everything up to `height` is durable. */
const Ack = z.strictObject({ type: z.literal('ack'), height: Height })
/** Send again from `from`; everything else is ignored until that block comes. */
const Resend = z.strictObject({ type: z.literal('resend'), from: Height })
/** Send `snapshot {scope: 'coins'}` of these coins (`coins: null`: `scope: 'all'`) after the block sent last. */
const Reseed = z.strictObject({
  type: z.literal('reseed'),
  coins: z.array(z.string()).nullable(),
  reason: z.string(),
})
/**
 * Send all orders (`l4`) of these coins, which are wanted, out of a snapshot of the node that is not older than the block
 * sent last, nor than the first since which all rows of the coin were sent. It holds for this connection; asked again
 * before part 0 it is the same.
 */
const L4Reseed = z.strictObject({ type: z.literal('l4Reseed'), coins: L4Coins })
const Slow = z.strictObject({ type: z.literal('slow'), retryMs: z.int().min(0) })
/** The feeder's node does not continue this log. Final until an operator resets the feed. */
const Conflict = z.strictObject({ type: z.literal('conflict'), reason: z.string() })
/** A frame was refused; nothing of it was applied. `field` is a dotted path. */
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
