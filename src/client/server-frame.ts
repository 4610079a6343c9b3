// Frames that a gateway sends, checked once where they enter. Unknown fields and channels are let through:
// a newer server must not break an older client.

import * as z from 'zod'
import { CHANNELS } from '../stream/catalogue.ts'
import { Ack, ErrorFrame, Notification, Pong, ReplayNews } from '../stream/reply-frames.ts'

const Reply = z.discriminatedUnion('channel', [Ack, ErrorFrame, Notification, Pong, ReplayNews])
const REPLIES: ReadonlySet<string> = new Set(Reply.options.map(({ shape }) => shape.channel.value))
type Named = z.ZodObject<{ channel: z.ZodLiteral<string> }>
/** The channel of each name that frames have: not every one is that of subscriptions. */
const BY_NAME: ReadonlyMap<string, (typeof CHANNELS)[number]> = new Map(
  CHANNELS.flatMap((channel) => {
    const frame: z.ZodType = channel.frame
    const named = (frame instanceof z.ZodUnion ? frame.options : [frame]) as Named[]
    return named.map(({ shape }) => [shape.channel.value, channel] as const)
  }),
)

/** Frames of channels that carry subscribed data. */
export type DataFrame = z.infer<(typeof CHANNELS)[number]['frame']>
export type KnownFrame = DataFrame | z.infer<typeof Reply>

/** `unknown`: a channel this client does not know; `malformed`: not what its channel promises, so something was missed. */
export type Decoded =
  | { readonly kind: 'frame'; readonly frame: KnownFrame }
  | { readonly kind: 'unknown'; readonly channel: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** The type of the bodies that frames of this name are of; undefined where there is none. */
export function typeOfFrames(name: string): string | undefined {
  return BY_NAME.get(name)?.type
}

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
  const schema: z.ZodType<KnownFrame> | undefined = REPLIES.has(channel) ? Reply : BY_NAME.get(channel)?.frame
  if (!schema) return { kind: 'unknown', channel }
  const parsed = schema.safeParse(value)
  if (parsed.success) return { kind: 'frame', frame: parsed.data }
  const issue = parsed.error.issues[0]
  return { kind: 'malformed', reason: `${channel}: ${issue?.path.join('.')}: ${issue?.message}` }
}
