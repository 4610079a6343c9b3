// Frames that a gateway sends, checked once where they enter. Unknown fields and channels are let through:
// a newer server must not break an older client.

import * as z from 'zod'
import { Fill, Levels, Millis } from '../feed/block.ts'
import type { SubscriptionBody } from './subscription.ts'

const Height = z.int().min(0)

const BookSnapshotData = z.object({ coin: z.string(), time: Millis, block_height: Height, levels: Levels })
const BookUpdatesData = z.object({
  time: Millis,
  block_height: Height,
  book_diffs: z.array(z.object({ coin: z.string(), levels: Levels })),
})
const DiffBatchData = z.object({
  time: Millis,
  block_height: Height,
  epoch: z.string(),
  book_diffs: z.array(z.object({ coin: z.string(), seq: z.int(), prev_seq: z.int(), levels: Levels })),
})
export type BookSnapshotData = z.infer<typeof BookSnapshotData>
export type BookUpdatesData = z.infer<typeof BookUpdatesData>
export type DiffBatchData = z.infer<typeof DiffBatchData>

const SeededBooks = z.object({
  channel: z.literal('l2BookDiff'),
  data: z.union([z.object({ Snapshot: BookSnapshotData }), z.object({ Updates: BookUpdatesData })]),
})
const DiffBatch = z.object({ channel: z.literal('l2BookDiff2'), data: z.object({ Updates: DiffBatchData }) })
const Fills = z.object({ channel: z.enum(['userFills', 'allFills']), fills: z.array(z.tuple([z.string(), Fill])) })
const LedgerUpdates = z.object({
  channel: z.literal('userNonFundingLedgerUpdates'),
  data: z.object({
    user: z.string(),
    nonFundingLedgerUpdates: z.array(
      z.object({ time: Millis, hash: z.string(), delta: z.looseObject({ type: z.string() }) }),
    ),
  }),
})
const Ack = z.object({
  channel: z.literal('subscriptionResponse'),
  data: z.object({
    method: z.enum(['subscribe', 'unsubscribe']),
    subscription: z.custom<SubscriptionBody>((value) => typeof (value as SubscriptionBody)?.type === 'string'),
  }),
})
const ErrorFrame = z.object({ channel: z.literal('error'), data: z.string(), code: z.string().optional() })
const Notification = z.object({ channel: z.literal('notification'), data: z.object({ notification: z.string() }) })
const Pong = z.object({ channel: z.literal('pong') })

const KNOWN = z.discriminatedUnion('channel', [
  SeededBooks,
  DiffBatch,
  Fills,
  LedgerUpdates,
  Ack,
  ErrorFrame,
  Notification,
  Pong,
])
const CHANNELS: ReadonlySet<string> = new Set([
  'l2BookDiff',
  'l2BookDiff2',
  'userFills',
  'allFills',
  'userNonFundingLedgerUpdates',
  'subscriptionResponse',
  'error',
  'notification',
  'pong',
])

export type KnownFrame = z.infer<typeof KNOWN>
/** Frames of channels that carry subscribed data. */
export type DataFrame = Extract<
  KnownFrame,
  { channel: 'l2BookDiff' | 'l2BookDiff2' | 'userFills' | 'allFills' | 'userNonFundingLedgerUpdates' }
>

/** `unknown`: a channel this client does not know; `malformed`: not what its channel promises, so something was missed. */
export type Decoded =
  | { readonly kind: 'frame'; readonly frame: KnownFrame }
  | { readonly kind: 'unknown'; readonly channel: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** Reads one text frame. */
export function decodeFrame(text: string): Decoded {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'malformed', reason: 'a frame is not JSON' }
  }
  const channel = (value as { channel?: unknown } | null)?.channel
  if (typeof channel !== 'string') return { kind: 'malformed', reason: 'a frame has no channel' }
  if (!CHANNELS.has(channel)) return { kind: 'unknown', channel }
  const parsed = KNOWN.safeParse(value)
  if (parsed.success) return { kind: 'frame', frame: parsed.data }
  const issue = parsed.error.issues[0]
  return { kind: 'malformed', reason: `${channel}: ${issue?.path.join('.')}: ${issue?.message}` }
}
