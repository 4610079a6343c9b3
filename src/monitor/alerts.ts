// Decides when an alert begins and ends. Invariants (test/monitor/alerts.test.ts): events of an alert alternate between
// started and ended; a condition that changes at every check sends nothing; without a receiver, nothing waits to be sent;
// the outbox and the number of attempts are bounded.

import * as z from 'zod'
import type { MicroCredits } from '../core/amount.ts'
import { type Backoff, backoffMs } from '../core/backoff.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'

export const ALERTS = ['feed_not_live', 'archive_late', 'write_offs_high', 'usage_copies_late'] as const
export type Alert = (typeof ALERTS)[number]

export const ARCHIVE_LATE_MS = 10 * 60_000
const USAGE_LATE_MS = 20 * 60_000
const WRITE_OFF_SHARE = 0.01
/** Write-offs are compared with the charges of this time. */
const WINDOW_MS = 3_600_000
const WINDOW_STEP_MS = 5 * 60_000
/** Consecutive checks before an alert begins, and before it ends. */
const CHECKS_TO_BEGIN = 2
const CHECKS_TO_END = 3
/** The archive reports every minute, but the log does not know its state after a restart until then. */
const CHECKS_WITHOUT_REPORT = 10
const OUTBOX_MAX = 32
const ATTEMPTS_MAX = 10
/** The checks are a minute apart, so the first retries are, too. */
const RETRY: Backoff = { firstMs: 30_000, capMs: 3_600_000, jitter: 0.5 }

/** Sums of all credits at a time. */
interface CreditSums {
  readonly atMs: number
  readonly charged: MicroCredits
  readonly writtenOff: MicroCredits
}

export interface Facts {
  /** Null if the log did not answer. */
  readonly status: Pick<LogStatus, 'state' | 'advice' | 'height' | 'archive'> | null
  readonly usageLateMs: number
  readonly sums: CreditSums
}

/** State of one alert: consecutive checks against its present state, and when it began. */
interface AlertState {
  readonly checks: number
  readonly sinceMs: number | null
}

/** A message that was not delivered yet. */
export interface OutgoingAlert {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly nextMs: number
}

/** Stored form. */
export interface StoredAlerts {
  readonly alerts: Readonly<Partial<Record<Alert, AlertState>>>
  /** Oldest first. */
  readonly sums: readonly CreditSums[]
  readonly outbox: readonly OutgoingAlert[]
}

export const NO_ALERTS: StoredAlerts = { alerts: {}, sums: [], outbox: [] }

/** Body of a message. */
export const AlertEvent = z.object({
  id: z.string().describe('Event id, identical in every attempt: `webhook-id`'),
  type: z.enum(['alert.started', 'alert.ended', 'alert.test']),
  alert: z.enum([...ALERTS, 'test']).describe('Name of the alert; `test`: an operator asked for this message'),
  chain: z.string().describe('`CHAIN` of the deployment'),
  created: z.int().describe('Time of the event, Unix milliseconds'),
  started: z.int().describe('Time when the alert began, Unix milliseconds'),
  message: z.string().describe('Description of the fault, as a sentence'),
})
export type AlertEvent = z.infer<typeof AlertEvent>

/** `none`: there was no receiver. */
export const ALERT_DELIVERIES = ['none', 'due', 'delivered', 'given_up'] as const
export type AlertDelivery = (typeof ALERT_DELIVERIES)[number]

/** An event of the past. */
export interface AlertHistoryEntry extends Pick<AlertEvent, 'type' | 'alert' | 'started' | 'message'> {
  readonly number: number
  /** Unix ms. */
  readonly at: number
  readonly delivery: AlertDelivery
  readonly attempts: number
  /** Answer of the receiver to the last attempt; null: no attempt. */
  readonly answer: string | null
}

/** Result of a check for one alert. */
export interface AlertReading {
  /** The fault as a sentence; null: none; undefined: not known. */
  readonly fault: string | null | undefined
  /** Against `threshold`; null: not known, or the alert has no number. */
  readonly value: number | null
  readonly threshold: number | null
}

/** Units of the numbers of a reading; null: it has none. */
export const ALERT_UNITS = {
  feed_not_live: null,
  archive_late: 'milliseconds',
  write_offs_high: 'percent',
  usage_copies_late: 'milliseconds',
} as const satisfies Readonly<Record<Alert, 'milliseconds' | 'percent' | null>>

/** The result of a check for each alert. */
export function alertReadings(facts: Facts, { sums: kept }: Pick<StoredAlerts, 'sums'>): Record<Alert, AlertReading> {
  const { status, usageLateMs, sums } = facts
  const share = writeOffShare(
    sums,
    kept.filter(({ atMs }) => isInWindow(atMs, sums.atMs)),
  )
  return {
    feed_not_live: {
      fault: status === null ? 'The log does not answer.' : status.state === 'live' ? null : status.advice,
      value: null,
      threshold: null,
    },
    archive_late: {
      fault: status === null ? undefined : archiveFault(status),
      value: status?.archive?.lagMs ?? null,
      threshold: ARCHIVE_LATE_MS,
    },
    write_offs_high: {
      fault:
        share > WRITE_OFF_SHARE
          ? `${(share * 100).toFixed(1)} % of the credits of the last hour were written off.`
          : null,
      value: share * 100,
      threshold: WRITE_OFF_SHARE * 100,
    },
    usage_copies_late: {
      fault:
        usageLateMs > USAGE_LATE_MS ? `Copies of usage to D1 have been failing for ${minutes(usageLateMs)}.` : null,
      value: usageLateMs,
      threshold: USAGE_LATE_MS,
    },
  }
}

const isInWindow = (atMs: number, nowMs: number) => nowMs - atMs <= WINDOW_MS

function archiveFault(status: NonNullable<Facts['status']>): string | null {
  if (isUnreported(status)) return 'The archive does not report.'
  const lagMs = status.archive?.lagMs ?? 0
  return lagMs > ARCHIVE_LATE_MS ? `The archive is ${minutes(lagMs)} behind.` : null
}

const isUnreported = ({ height, archive }: NonNullable<Facts['status']>) => height !== null && archive?.height === null

function writeOffShare({ charged, writtenOff }: CreditSums, before: readonly CreditSums[]): number {
  const first = before[0]
  if (first === undefined) return 0
  const lost = writtenOff - first.writtenOff
  return lost <= 0 ? 0 : lost / (charged - first.charged + lost)
}

const minutes = (ms: number) => `${Math.floor(ms / 60_000)} minutes`

/** One check. `next` is `stored` itself if nothing changed. `newId` is called for each event. */
export function checkAlerts(
  stored: StoredAlerts,
  facts: Facts,
  {
    chain,
    newId,
    hasReceiver,
  }: { readonly chain: string; readonly newId: () => string; readonly hasReceiver: boolean },
): { readonly next: StoredAlerts; readonly events: readonly AlertEvent[] } {
  const nowMs = facts.sums.atMs
  const readings = alertReadings(facts, stored)
  const alerts: Partial<Record<Alert, AlertState>> = { ...stored.alerts }
  const events: AlertEvent[] = []
  for (const alert of ALERTS) {
    const before = stored.alerts[alert] ?? { checks: 0, sinceMs: null }
    const { fault } = readings[alert]
    if (fault === undefined) continue
    const isSlow = alert === 'archive_late' && facts.status !== null && isUnreported(facts.status)
    const { state, type } = advance(before, fault !== null, isSlow ? CHECKS_WITHOUT_REPORT : CHECKS_TO_BEGIN, nowMs)
    alerts[alert] = state
    if (type === null) continue
    const started = state.sinceMs ?? before.sinceMs ?? nowMs
    events.push({ id: newId(), type, alert, chain, created: nowMs, started, message: fault ?? 'This is over.' })
  }
  const messages = hasReceiver ? events.map((event) => messageOf(event, nowMs)) : []
  const kept = stored.sums.filter(({ atMs }) => isInWindow(atMs, nowMs))
  const isStep = nowMs - (kept.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) >= WINDOW_STEP_MS
  const sums = isStep ? [...kept, facts.sums] : stored.sums
  const outbox = hasReceiver ? [...stored.outbox, ...messages].slice(-OUTBOX_MAX) : []
  const next = { alerts, sums, outbox }
  return { next: JSON.stringify(next) === JSON.stringify(stored) ? stored : next, events }
}

const messageOf = (event: AlertEvent, nowMs: number): OutgoingAlert => {
  return { id: event.id, body: JSON.stringify(event), attempts: 0, nextMs: nowMs }
}

function advance({ checks, sinceMs }: AlertState, isBad: boolean, checksToBegin: number, nowMs: number) {
  const isActive = sinceMs !== null
  if (isBad === isActive) return { state: { checks: 0, sinceMs }, type: null }
  const needed = isActive ? CHECKS_TO_END : checksToBegin
  if (checks + 1 < needed) return { state: { checks: checks + 1, sinceMs }, type: null }
  return isActive
    ? { state: { checks: 0, sinceMs: null }, type: 'alert.ended' as const }
    : { state: { checks: 0, sinceMs: nowMs }, type: 'alert.started' as const }
}

/** The messages that are due, oldest first. A message waits for the ones before it. */
export function dueAlerts({ outbox }: StoredAlerts, nowMs: number): readonly OutgoingAlert[] {
  const waiting = outbox.findIndex(({ nextMs }) => nextMs > nowMs)
  return waiting < 0 ? outbox : outbox.slice(0, waiting)
}

/** After an attempt. A message that failed too often is dropped. */
export function attempted(
  stored: StoredAlerts,
  { id, attempts }: OutgoingAlert,
  isDelivered: boolean,
  nowMs: number,
  random: number,
): StoredAlerts {
  const isOver = isDelivered || attempts + 1 >= ATTEMPTS_MAX
  const nextMs = nowMs + backoffMs(RETRY, attempts, random)
  const outbox = stored.outbox.flatMap((one) => {
    if (one.id !== id) return [one]
    return isOver ? [] : [{ ...one, attempts: attempts + 1, nextMs }]
  })
  return { ...stored, outbox }
}
