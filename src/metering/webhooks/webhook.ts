// How an event reaches the webhook of an account: its text, what is signed of it as Standard Webhooks has it (1.0.0), and
// when it is tried again. Laws: an event is written once and sent as written, however often; it is tried for a day and
// no longer.

import * as z from 'zod'
import { formatCredits, type MicroCredits } from '../../core/amount.ts'
import type { Backoff } from '../../core/backoff.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import { DEFAULT_THRESHOLDS, parseThreshold, THRESHOLDS_MAX, type Threshold } from './low-balance.ts'

const SECRET_PREFIX = 'whsec_'
const URL_CHARS = 2_048
/** At least half of each wait: receivers that were down are not met by everyone at once, nor too soon again. */
export const RETRY: Backoff = { firstMs: 30_000, capMs: 2 * 3_600_000, jitter: 0.5 }
/** An event that could not be delivered for so long is given up. */
export const GIVE_UP_MS = 24 * 3_600_000

/** Where events go. The address is not repeated in what refuses it: it may hold a secret. */
export const WebhookUrl = z
  .string()
  .max(URL_CHARS, { abort: true })
  .refine((url) => !/^[a-z]*:?[/\\]*[^/?#\\]*@/i.test(url), 'must hold no user name or password')
  .regex(/^https?:\/\/[^\s/?#\\]+(?:[/?#]\S*)?$/i, 'must be an address such as https://example.com/hooks/weir')
  .pipe(z.url('must be an address such as https://example.com/hooks/weir'))

/** Names of thresholds, parsed; each once. */
export const Thresholds = z
  .array(
    z.string('must be text such as "20%" or "1000"').transform((name, context): Threshold => {
      const threshold = parseThreshold(name)
      if (threshold.ok) return threshold.value
      context.addIssue({ code: 'custom', message: threshold.error })
      return z.NEVER
    }),
  )
  .min(1)
  .max(THRESHOLDS_MAX)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must name each threshold once')
  .default(() => DEFAULT_THRESHOLDS.map(defaultThreshold))

const Event = {
  id: z.string().describe('The same at every attempt: `webhook-id`'),
  account: z.string().describe('Whose it is'),
  created: z.int().describe('When that was, Unix milliseconds'),
}

/** An event that says that credits run low. */
export const LowBalanceEvent = z
  .object({
    ...Event,
    type: z.literal('credits.low'),
    threshold: z.string().describe('The one that the balance fell to or below, as it was set'),
    credits_left: z.string().describe('The balance then, exact decimal text'),
    credits_at_most: z.string().describe('The most that it was in the plan’s period'),
  })
  .meta({ id: 'LowBalanceEvent' })

/** An event that says that a pipeline was paused because its key ended. */
export const PipelinePausedEvent = z
  .object({
    ...Event,
    type: z.literal('pipeline.paused'),
    pipeline: z.string().describe('Its id, `pipe_…`'),
    name: z.string().describe('What its owner calls it'),
    reason: z.enum(['key_revoked', 'key_expired']).describe('What became of the key that it was charged to'),
    key_hash: z.string().describe('SHA-256 of that key, hex'),
    key_ended: z.int().describe('When that key ended, Unix milliseconds'),
  })
  .meta({ id: 'PipelinePausedEvent' })

/** An event that an operator sends to see whether it arrives. */
export const TestEvent = z.object({ ...Event, type: z.literal('test') }).meta({ id: 'TestEvent' })

/** The body of an event that says that credits run low. */
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

/** The body of an event that says that a pipeline was paused. */
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

/** The body of an event that an operator sends to see whether it arrives. */
export function testBody(id: string, account: AccountId, createdMs: number): string {
  return JSON.stringify({ id, type: 'test', account, created: createdMs } satisfies z.infer<typeof TestEvent>)
}

/** What is signed: with the time of this attempt, so that a copy taken on the way is of no use later. */
export function signedText(id: string, seconds: number, body: string): string {
  return `${id}.${seconds}.${body}`
}

/** The text of a secret. */
export function secretText(bytes: Uint8Array): string {
  return SECRET_PREFIX + btoa(String.fromCharCode(...bytes))
}

/** The bytes that a secret's text stands for. */
export function secretBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.slice(SECRET_PREFIX.length)), (char) => char.charCodeAt(0))
}

function defaultThreshold(name: string): Threshold {
  const threshold = parseThreshold(name)
  if (!threshold.ok) throw new Error(`a default threshold is wrong: ${name}`)
  return threshold.value
}
