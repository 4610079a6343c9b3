// Checks and alerts of the Monitor. Invariants: no message is sent before it is stored, with its event in the history; the
// object sleeps between checks.

import type { Egress } from '../core/egress.client.ts'
import { logEvent } from '../core/log.client.ts'
import { deliverEvent } from '../metering/webhooks/webhook.client.ts'
import { ALERT_SECRET } from './alert-settings.ts'
import { AlertHistory } from './alerts.store.ts'
import {
  ALERTS,
  type AlertEvent,
  alertReadings,
  attempted,
  checkAlerts,
  dueAlerts,
  type Facts,
  NO_ALERTS,
  type StoredAlerts,
} from './alerts.ts'
import type { AlertReport, AlertTest } from './monitor-api.ts'

const ALERTS_KEY = 'alerts'

interface AlertTarget {
  /** Empty: no receiver. */
  readonly url: string
  readonly secret: string
  readonly chain: string
  readonly egress: Egress
}

const newId = () => `evt_${crypto.randomUUID()}`

export class AlertSender {
  readonly #storage: DurableObjectStorage
  readonly #history: AlertHistory
  #stored: StoredAlerts

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#history = new AlertHistory(storage.sql)
    this.#stored = storage.kv.get<StoredAlerts>(ALERTS_KEY) ?? NO_ALERTS
  }

  /** One check, then one attempt for each message that is due. */
  async check(facts: Facts, target: AlertTarget): Promise<void> {
    const { chain, url, secret } = target
    const hasReceiver = url !== ''
    const { next, events } = checkAlerts(this.#stored, facts, { chain, newId, hasReceiver })
    for (const event of events) this.#history.add(event, hasReceiver ? 'due' : 'none')
    this.#save(next)
    if (!hasReceiver) return
    if (!ALERT_SECRET.test(secret)) return logEvent('alert_unsigned')
    for (const due of dueAlerts(this.#stored, facts.sums.atMs)) {
      const { delivered, answer } = await deliverEvent({ ...due, url, secret }, target.egress, Date.now())
      if (!delivered) logEvent('alert_undelivered', { id: due.id, answer })
      this.#save(attempted(this.#stored, due, delivered, Date.now(), Math.random()))
      const isWaiting = this.#stored.outbox.some(({ id }) => id === due.id)
      this.#history.attempted(due.id, delivered ? 'delivered' : isWaiting ? 'due' : 'given_up', answer)
      if (!delivered) return
    }
  }

  /** Sends a test message once, without retries. */
  async test({ chain, url, secret, egress }: AlertTarget): Promise<AlertTest> {
    if (url === '') return 'no_receiver'
    if (!ALERT_SECRET.test(secret)) return 'no_secret'
    const nowMs = Date.now()
    const message = 'This is a test. Nothing is wrong.'
    const event: AlertEvent = {
      id: newId(),
      type: 'alert.test',
      alert: 'test',
      chain,
      created: nowMs,
      started: nowMs,
      message,
    }
    this.#history.add(event, 'given_up')
    const delivery = await deliverEvent({ id: event.id, body: JSON.stringify(event), url, secret }, egress, nowMs)
    this.#history.attempted(event.id, delivery.delivered ? 'delivered' : 'given_up', delivery.answer)
    return delivery
  }

  /** `facts`: of now, because those of the last check are not stored. */
  report(facts: Facts, { url, secret }: Pick<AlertTarget, 'url' | 'secret'>): Omit<AlertReport, 'v'> {
    const { alerts, outbox } = this.#stored
    const readings = alertReadings(facts, this.#stored)
    return {
      receiver: url === '' ? null : new URL(url).host,
      isSigned: ALERT_SECRET.test(secret),
      nowMs: facts.sums.atMs,
      alerts: ALERTS.map((alert) => ({
        alert,
        sinceMs: alerts[alert]?.sinceMs ?? null,
        fault: readings[alert].fault ?? null,
        value: readings[alert].value,
        threshold: readings[alert].threshold,
      })),
      history: this.#history.list(outbox.map(({ id }) => id)),
    }
  }

  #save(next: StoredAlerts): void {
    if (next === this.#stored) return
    this.#stored = next
    this.#storage.kv.put(ALERTS_KEY, next)
  }
}
