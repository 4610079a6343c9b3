// Checks and alerts of the Monitor. Invariants: no message is sent before it is stored; the object sleeps between checks.

import type { Egress } from '../core/egress.client.ts'
import { logEvent } from '../core/log.client.ts'
import { deliverEvent } from '../metering/webhooks/webhook.client.ts'
import { ALERT_SECRET } from './alert-settings.ts'
import { attempted, checkAlerts, dueAlerts, type Facts, NO_ALERTS, type StoredAlerts } from './alerts.ts'

const ALERTS_KEY = 'alerts'

interface AlertTarget {
  readonly url: string
  readonly secret: string
  readonly chain: string
}

export class AlertSender {
  readonly #storage: DurableObjectStorage
  readonly #egress: Egress
  readonly #target: AlertTarget
  #stored: StoredAlerts

  constructor(storage: DurableObjectStorage, egress: Egress, target: AlertTarget) {
    this.#storage = storage
    this.#egress = egress
    this.#target = target
    this.#stored = storage.kv.get<StoredAlerts>(ALERTS_KEY) ?? NO_ALERTS
  }

  /** One check, then one attempt for each message that is due. */
  async check(facts: Facts): Promise<void> {
    const { chain, url, secret } = this.#target
    this.#save(checkAlerts(this.#stored, facts, { chain, newId: () => `evt_${crypto.randomUUID()}` }))
    if (!ALERT_SECRET.test(secret)) return logEvent('alert_unsigned')
    for (const due of dueAlerts(this.#stored, facts.sums.atMs)) {
      const { delivered, answer } = await deliverEvent({ ...due, url, secret }, this.#egress, Date.now())
      if (!delivered) logEvent('alert_undelivered', { id: due.id, answer })
      this.#save(attempted(this.#stored, due, delivered, Date.now(), Math.random()))
      if (!delivered) return
    }
  }

  #save(next: StoredAlerts): void {
    if (next === this.#stored) return
    this.#stored = next
    this.#storage.kv.put(ALERTS_KEY, next)
  }
}
