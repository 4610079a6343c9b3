// Pays the minutes that have become due: one settlement per account, and what follows when it is refused.
// Law: a charge that may or may not have arrived is sent again with the same id, never with another one.

import type { Charge, ChargeAnswer, MicroCredits } from '../credit/meter-api.ts'
import type { Clock, Connection } from './connection.ts'
import { errorFrame, lowCreditsFrame } from './frames.ts'
import type { Minutes } from './minutes.ts'
import { nextCharge, paidUntilMs, pay, UNPAID_GRACE_MS } from './minutes.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Charges in one call to a meter. */
const MAX_CHARGES = 500

export interface SettlementPorts {
  readonly relay: string
  readonly clock: Clock
  chargeAll(account: string, charges: readonly Charge[]): Promise<readonly ChargeAnswer[]>
}

export class Settlement {
  readonly #ports: SettlementPorts
  readonly #subscriptions: Subscriptions
  readonly #atWork = new Set<string>()

  constructor(ports: SettlementPorts, subscriptions: Subscriptions) {
    this.#ports = ports
    this.#subscriptions = subscriptions
  }

  /** Settles every account that owes a minute; accounts do not wait for one another. Never throws. */
  async run(): Promise<void> {
    const due = [...this.#subscriptions.minutes.due(this.#ports.clock.nowMs)]
    await Promise.all(due.map(([account, minutes]) => this.#settle(account, minutes.slice(0, MAX_CHARGES))))
  }

  async #settle(account: string, due: readonly Minutes[]): Promise<void> {
    if (this.#atWork.has(account)) return
    this.#atWork.add(account)
    try {
      const charges = due.map((minutes) => nextCharge(this.#ports.relay, minutes))
      const answers = await this.#ports.chargeAll(account, charges)
      let remaining: MicroCredits | null = null
      due.forEach((minutes, index) => {
        const answer = answers[index]
        if (answer?.ok) remaining = answer.remaining
        if (answer) this.#apply(minutes, answer)
      })
      if (remaining !== null) this.#warn(account, remaining)
    } catch {
      this.#overdue(due)
    } finally {
      this.#atWork.delete(account)
    }
  }

  #apply(minutes: Minutes, answer: ChargeAnswer): void {
    if (answer.ok) return pay(minutes)
    if (answer.reason === 'revoked') {
      const text = 'This API key was revoked: use the key that replaced it.'
      const connections = this.#subscriptions.connectionsOf({ keyHash: minutes.keyHash })
      return endAll(connections, 4401, 'key revoked', errorFrame(text, 'unauthorized'))
    }
    const connection = this.#subscriptions.ofMinutes(minutes)?.connection
    const text = `Credits exhausted: a minute of ${minutes.type} costs ${minutes.price / 1e6}, ${answer.remaining / 1e6} remain. Top up the account.`
    if (connection) endAll([connection], 4402, 'credits exhausted', errorFrame(text, 'credits_exhausted'))
  }

  #warn(account: string, remaining: MicroCredits): void {
    const next = this.#subscriptions.minutes.nextMinuteOf(account)
    if (remaining >= next) return
    const frame = lowCreditsFrame(next, remaining)
    for (const connection of this.#subscriptions.connectionsOf({ account })) connection.send(frame)
  }

  /** The meter cannot be asked: subscriptions run on for a while, then their sockets go. */
  #overdue(due: readonly Minutes[]): void {
    for (const minutes of due) {
      if (this.#ports.clock.nowMs - paidUntilMs(minutes) < UNPAID_GRACE_MS) continue
      const connection = this.#subscriptions.ofMinutes(minutes)?.connection
      const text = 'This minute could not be charged: reconnect in a few seconds.'
      if (connection) endAll([connection], 1013, 'charging is unavailable', errorFrame(text, 'unavailable'))
    }
  }
}

function endAll(connections: readonly Connection[], code: number, reason: string, last: string): void {
  for (const connection of connections) connection.end(code, reason, last)
}
