// Webhook events: body, signed string as in Standard Webhooks 1.0.0, and retry schedule. Invariants: an event is
// serialized once and sent unchanged; delivery is attempted for one day.

import * as z from 'zod'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import type { Backoff } from '../../core/backoff.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import { type StoppedTopUp, TOP_UP_STOPS } from '../top-up-watch.ts'
import { DEFAULT_THRESHOLDS, parseThreshold, THRESHOLDS_MAX, type Threshold } from './low-balance.ts'

const SECRET_PREFIX = 'whsec_'
const URL_CHARS = 2_048
/** Types of events about a rule of an alert. */
export const ALERT_TYPES = ['alert.fired', 'alert.resolved', 'alert.test'] as const
export type AlertType = (typeof ALERT_TYPES)[number]
/** Half of the delay is random, so that a receiver that recovers does not get all retries at once or immediately. */
export const RETRY: Backoff = { firstMs: 30_000, capMs: 2 * 3_600_000, jitter: 0.5 }
/** Undelivered events are dropped after this time. */
export const GIVE_UP_MS = 24 * 3_600_000

/** Destination of events. Errors do not repeat the URL, because it may contain a secret. */
export const WebhookUrl = z
  .string()
  .max(URL_CHARS, { abort: true })
  .refine((url) => !/^[a-z]*:?[/\\]*[^/?#\\]*@/i.test(url), 'must not contain a user name or password')
  .regex(/^https?:\/\/[^\s/?#\\]+(?:[/?#]\S*)?$/i, 'must be an https URL such as https://example.com/hooks/weir')
  .pipe(z.url('must be an https URL such as https://example.com/hooks/weir'))
  .refine(isSafeUrl, 'must be https. Plain http works only for this machine, such as http://127.0.0.1:3000')

/** Whether events to this URL are encrypted, or do not leave the machine. */
export function isSafeUrl(url: string): boolean {
  return /^(?:https:\/\/|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$))/i.test(url)
}

/** Parsed threshold names without duplicates. */
export const Thresholds = z
  .array(
    z.string('must be a string such as "20%" or "1000"').transform((name, context): Threshold => {
      const threshold = parseThreshold(name)
      if (threshold.ok) return threshold.value
      context.addIssue({ code: 'custom', message: threshold.error })
      return z.NEVER
    }),
  )
  .min(1)
  .max(THRESHOLDS_MAX)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must not repeat a threshold')
  .default(() => DEFAULT_THRESHOLDS.map(defaultThreshold))

const Event = {
  id: z.string().describe('Event id, identical in every attempt: `webhook-id`'),
  account: z.string().describe('Account name'),
  created: z.int().describe('Time of the event, Unix milliseconds'),
}

/** Low-balance event. */
export const LowBalanceEvent = z
  .object({
    ...Event,
    type: z.literal('credits.low'),
    threshold: z.string().describe('Threshold reached, as configured'),
    credits_left: z.string().describe('Balance at that time, as an exact decimal string'),
    credits_at_most: z.string().describe('Highest balance in the plan’s period'),
  })
  .meta({ id: 'LowBalanceEvent' })

/** Event for a pipeline that was paused because its key ended. */
export const PipelinePausedEvent = z
  .object({
    ...Event,
    type: z.literal('pipeline.paused'),
    pipeline: z.string().describe('Pipeline id, `pipe_…`'),
    name: z.string().describe('Pipeline name'),
    reason: z.enum(['key_revoked', 'key_expired']).describe('Reason why the charged key ended'),
    key_hash: z.string().describe('SHA-256 of that key, in hex'),
    key_ended: z.int().describe('Time when that key ended, Unix milliseconds'),
  })
  .meta({ id: 'PipelinePausedEvent' })

/** Event for automatic top-ups that stopped. */
export const TopUpStoppedEvent = z
  .object({
    ...Event,
    type: z.literal('top_up.stopped'),
    reason: z.enum(TOP_UP_STOPS).describe('Why automatic top-ups stopped'),
    order: z.string().nullable().describe('Order whose charge failed; null: none'),
  })
  .meta({ id: 'TopUpStoppedEvent' })

/** Test event sent by an operator. */
export const TestEvent = z.object({ ...Event, type: z.literal('test') }).meta({ id: 'TestEvent' })

/** Body of a low-balance event. */
export function lowBalanceBody(event: {
  readonly id: string
  readonly account: AccountId
  readonly threshold: string
  readonly leftMicro: MicroCredits
  readonly mostMicro: MicroCredits
  readonly createdMs: number
}): string {
  return JSON.stringify({
    id: event.id,
    type: 'credits.low',
    account: event.account,
    created: event.createdMs,
    threshold: event.threshold,
    credits_left: formatCredits(event.leftMicro),
    credits_at_most: formatCredits(event.mostMicro),
  } satisfies z.infer<typeof LowBalanceEvent>)
}

export interface PausedPipeline {
  readonly pipeline: string
  readonly name: string
  readonly keyHash: KeyHash
  readonly why: 'revoked' | 'expired'
  readonly atMs: number
}

/** Body of a pipeline-paused event. */
export function pipelinePausedBody(
  { pipeline, name, keyHash, why, atMs }: PausedPipeline,
  { id, account, createdMs }: { readonly id: string; readonly account: AccountId; readonly createdMs: number },
): string {
  return JSON.stringify({
    id,
    type: 'pipeline.paused',
    account,
    created: createdMs,
    pipeline,
    name,
    reason: `key_${why}`,
    key_hash: keyHash,
    key_ended: atMs,
  } satisfies z.infer<typeof PipelinePausedEvent>)
}

/** Body of a top-up-stopped event. */
export function topUpStoppedBody(
  { reason, order }: StoppedTopUp,
  { id, account, createdMs }: { readonly id: string; readonly account: AccountId; readonly createdMs: number },
): string {
  return JSON.stringify({
    id,
    type: 'top_up.stopped',
    account,
    created: createdMs,
    reason,
    order,
  } satisfies z.infer<typeof TopUpStoppedEvent>)
}

/** Body of a test event. */
export function testBody(id: string, account: AccountId, createdMs: number): string {
  return JSON.stringify({ id, type: 'test', account, created: createdMs } satisfies z.infer<typeof TestEvent>)
}

/** The string to sign. It includes the attempt's time, so a captured copy cannot be replayed later. */
export function signedText(id: string, seconds: number, body: string): string {
  return `${id}.${seconds}.${body}`
}

/** String form of a secret. */
export function secretText(bytes: Uint8Array): string {
  return SECRET_PREFIX + btoa(String.fromCharCode(...bytes))
}

/** Bytes that a secret's string form encodes. */
export function secretBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.slice(SECRET_PREFIX.length)), (char) => char.charCodeAt(0))
}

function defaultThreshold(name: string): Threshold {
  const threshold = parseThreshold(name)
  if (!threshold.ok) throw new Error(`invalid default threshold: ${name}`)
  return threshold.value
}
