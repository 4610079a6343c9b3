// Payer: one Durable Object per wallet and network, named `<network>:<address>`. It owns the wallet's payments and is the
// only caller of the facilitator. payments.ts decides; an alarm performs what is due. Invariant: the alarm for the next
// step of a payment is set in the same write as that step.

import { DurableObject } from 'cloudflare:workers'
import { countStart, reportCounters } from '../../core/counter-reports.client.ts'
import { orReject } from '../../core/deadline.ts'
import { logEvent } from '../../core/log.client.ts'
import { objectName } from '../../core/object-name.store.ts'
import { gatewayOf } from '../../core/objects.client.ts'
import { after, sleep } from '../../core/timers.client.ts'
import { readVariables } from '../../core/variables.ts'
import type { Book, BookUnclear } from './booking.ts'
import { lookAtChain } from './chain.client.ts'
import { facilitatorAt } from './facilitator.client.ts'
import { PayerStore } from './payer.store.ts'
import {
  type BeginRequest,
  type BeginResponse,
  type EndRequest,
  PAYER_API_VERSION,
  type PayerApi,
  type SettleResponse,
} from './payer-api.ts'
import { ATTEMPT_MS } from './payment.ts'
import { type PaymentPorts, Payments } from './payments.ts'
import { PayerSettings, type PaymentNetwork } from './settings.ts'

const BOOK_TIMEOUT_MS = 10_000
/** Pause between two turns with payments that are still due. */
const TURN_EVERY_MS = 1_000

/** Gateway methods for Payers; only the gateway has the account tables. */
interface PaymentBooks {
  readonly bookPayment: Book
  readonly bookUnclearPayment: BookUnclear
}

/** Optional secret. */
interface PayerEnv {
  readonly X402_FACILITATOR_TOKEN?: string
}

export class Payer extends DurableObject<Cloudflare.Env & PayerEnv> implements PayerApi {
  readonly #name: string
  readonly #store: PayerStore
  readonly #payments: Payments
  #alarmAtMs: number | null = 0

  constructor(ctx: DurableObjectState, env: Cloudflare.Env & PayerEnv) {
    super(ctx, env)
    countStart('Payer')
    this.#name = objectName(ctx)
    const { X402: networks } = readVariables(PayerSettings, env)
    const network = networks.find((one) => this.#name.startsWith(`${one.network}:`))
    this.#store = new PayerStore(ctx.storage, () => void this.#arm())
    this.#payments = new Payments({ store: this.#store, ...this.#outside(network) })
  }

  /** `network`: undefined if the operator removed it; then its payments wait. */
  #outside(network: PaymentNetwork | undefined): Omit<PaymentPorts, 'store'> {
    const { X402_FACILITATOR_TOKEN: token = '' } = this.env
    const url = network?.rpcUrl
    const gone = async () => {
      throw new Error(`X402 does not have the network of ${this.#name}`)
    }
    const clients = network === undefined ? { verify: gone, settle: gone } : facilitatorAt(network.facilitator, token)
    return {
      ...clients,
      look: url === undefined ? null : (order) => lookAtChain(url, order),
      book: (payment) => orReject(this.#books().bookPayment(payment), BOOK_TIMEOUT_MS, after),
      bookUnclear: (payment) => orReject(this.#books().bookUnclearPayment(payment), BOOK_TIMEOUT_MS, after),
      sleep,
      nowMs: Date.now,
      random: Math.random,
      report: (error) => logEvent('payment_failed', { error }),
    }
  }

  #books(): PaymentBooks {
    return gatewayOf(this.env) as object as PaymentBooks
  }

  async begin({ v, order }: BeginRequest): Promise<BeginResponse> {
    checkVersion(v)
    // Another wallet's payment would escape the checks of its own object.
    const { requirement, authorization } = order
    if (this.#name !== `${requirement.network}:${authorization.from}`) throw new Error('this is another wallet')
    return this.#payments.begin(order)
  }

  async settle({ v, nonce, holder }: EndRequest): Promise<SettleResponse> {
    checkVersion(v)
    return this.#payments.settle(nonce, holder)
  }

  async release({ v, nonce, holder }: EndRequest): Promise<void> {
    checkVersion(v)
    this.#payments.release(nonce, holder)
  }

  async useNonce(nonce: string, untilMs: number): Promise<boolean> {
    return this.#store.useNonce(nonce, untilMs, Date.now())
  }

  override async alarm(): Promise<void> {
    // A turn that is lost is repeated.
    await this.#wakeAt(Date.now() + ATTEMPT_MS)
    await this.#payments.turn()
    await this.#arm(Date.now() + TURN_EVERY_MS)
    reportCounters(this.ctx, this.env)
  }

  /** Sets the alarm for the next step, but not before `earliestMs`. */
  async #arm(earliestMs = 0): Promise<void> {
    const dueMs = this.#store.nextDueMs()
    await this.#wakeAt(dueMs === null ? null : Math.max(dueMs, earliestMs))
  }

  async #wakeAt(dueMs: number | null): Promise<void> {
    if (dueMs === this.#alarmAtMs) return
    this.#alarmAtMs = dueMs
    await (dueMs === null ? this.ctx.storage.deleteAlarm() : this.ctx.storage.setAlarm(dueMs))
  }
}

function checkVersion(v: number): void {
  if (v !== PAYER_API_VERSION) throw new Error(`unknown version ${v}`)
}
