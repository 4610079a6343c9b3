// Client frames on /ws: size limit and schemas. client-frame.ts parses them.

import * as z from 'zod'
import { Height, Millis } from '../feed/block.ts'

export const UP_FRAME_MAX_BYTES = 64 * 1024

/** Returns the sent object itself, because it is echoed with its keys in the same order. */
const subscription = z.custom<{ readonly type: string }>(
  (value) => typeof (value as { type?: unknown } | null)?.type === 'string',
  'must be an object with a "type"',
)
export const PingFrame = z.object({
  method: z.literal('ping'),
  /** Nonce of the last pong, which proves that the client read it. Any other value requests a first nonce. */
  nonce: z.string().max(64).optional(),
})
const START_FIELDS = { fromTime: Millis.optional(), fromBlock: Height.optional() }
const START_MESSAGE = 'send exactly one of fromTime (Unix milliseconds) and fromBlock (a height)'
const SPEED_MESSAGE = 'must be 1 to 300, or "max"'
/**
 * Range of a replay. The schema is strict. Otherwise a misspelled end would be ignored, and the replay would run and
 * charge without end.
 */
export const ReplayRange = z
  .strictObject({
    ...START_FIELDS,
    toTime: Millis.optional(),
    toBlock: Height.optional(),
    speed: z
      .union([z.number().min(1, SPEED_MESSAGE).max(300, SPEED_MESSAGE), z.literal('max')], SPEED_MESSAGE)
      .optional(),
  })
  .superRefine((range, context) => {
    const { fromTime, fromBlock, toTime, toBlock } = range
    const refuse = (field: keyof typeof range, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if ((fromTime === undefined) === (fromBlock === undefined)) refuse('fromTime', START_MESSAGE)
    if (toTime !== undefined && toBlock !== undefined)
      refuse('toTime', 'send toTime or toBlock, or neither to join live')
    if (toTime !== undefined && toTime < (fromTime ?? 0)) refuse('toTime', 'must not be before fromTime')
    if (toBlock !== undefined && toBlock < (fromBlock ?? 0)) refuse('toBlock', 'must not be before fromBlock')
  })
export type ReplayRange = z.infer<typeof ReplayRange>
export const SubscribeFrame = z.object({
  method: z.literal('subscribe'),
  subscription,
  fromBlock: z.int().min(0).optional(),
  replay: ReplayRange.optional(),
  meta: z.boolean().optional(),
})
export const UnsubscribeFrame = z.object({ method: z.literal('unsubscribe'), subscription })
export const PostFrame = z.object({
  method: z.literal('post'),
  id: z.int().min(0),
  request: z.looseObject({ type: z.string(), payload: z.unknown() }),
})
/** Controls the replay of a subscription. */
export const ReplayFrame = z
  .object({ method: z.literal('replay'), action: z.enum(['pause', 'resume', 'seek']), subscription, ...START_FIELDS })
  .superRefine(({ action, fromTime, fromBlock }, context) => {
    const startCount = [fromTime, fromBlock].filter((from) => from !== undefined).length
    if (action === 'seek' && startCount !== 1)
      context.addIssue({ code: 'custom', path: ['fromTime'], message: START_MESSAGE })
    if (action !== 'seek' && startCount > 0) {
      const path = [fromTime === undefined ? 'fromBlock' : 'fromTime']
      context.addIssue({ code: 'custom', path, message: 'valid only with action "seek"; remove it' })
    }
  })
export const UpFrame = z.discriminatedUnion(
  'method',
  [PingFrame, SubscribeFrame, UnsubscribeFrame, PostFrame, ReplayFrame],
  {
    error: 'must be subscribe, unsubscribe, ping, post or replay',
  },
)
export type UpFrame = z.infer<typeof UpFrame>
export type SubscribeFrame = z.infer<typeof SubscribeFrame>
export type UnsubscribeFrame = z.infer<typeof UnsubscribeFrame>
export type ReplayFrame = z.infer<typeof ReplayFrame>
export type PostFrame = z.infer<typeof PostFrame>

/** True for a frame that closes the socket. */
export function isTooLarge(message: string | ArrayBuffer): boolean {
  if (typeof message !== 'string') return message.byteLength > UP_FRAME_MAX_BYTES
  // A string never has more UTF-16 units than bytes. So the cheap test finds most large frames, and the exact test
  // decides the rest.
  return message.length > UP_FRAME_MAX_BYTES || byteLength(message) > UP_FRAME_MAX_BYTES
}

const encoder = new TextEncoder()
function byteLength(text: string): number {
  return text.length * 3 <= UP_FRAME_MAX_BYTES ? text.length : encoder.encode(text).length
}
