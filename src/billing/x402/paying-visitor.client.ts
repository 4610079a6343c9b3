// A caller without a key who may pay for one call. The surfaces hold and settle as for any caller; what they settle is
// paid before the reply leaves. Invariants: a request with several prices is refused before its payment is used; what
// costs nothing is limited per address; nothing is paid for a failure.

import { AddressLimiter, KEYLESS_REQUESTS } from '../../accounts/address-limiter.ts'
import type { Identity } from '../../accounts/identity.ts'
import { formatCredits } from '../../core/amount.ts'
import type { Failure } from '../../core/failure.ts'
import { keyHashOf } from '../../core/ids.ts'
import { networkOf } from '../../core/network.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { WaitUntil } from '../../core/wait-until.ts'
import type { Charging, Hold, Price } from '../../metering/charging.ts'
import type { Reply } from '../../protocol/failure-wire.ts'
import { offerOn } from './offer.ts'
import { type HeldPayment, holdPayment, type PaymentDeps, type PaymentError } from './payment-service.client.ts'
import { quoteForCall } from './price.ts'
import type { PaymentNetwork } from './settings.ts'

export interface PayingDeps extends PaymentDeps {
  readonly networks: readonly PaymentNetwork[]
  readonly addressOf: (request: Request) => string | null
}

const gate = new AddressLimiter(KEYLESS_REQUESTS)

const ONE_CALL: Failure = {
  kind: 'not_entitled',
  why: 'A batch cannot be paid by x402. Send one call per request, or buy credits with POST /x402/credits.',
}
const FREE_HOLD: Hold = { settle: () => null, release: () => null }

/** Admits a request without a key, or says that its address sends too many. */
export function admitVisitor(request: Request, waitUntil: WaitUntil, deps: PayingDeps): Result<PayingVisitor, Failure> {
  const address = deps.addressOf(request)
  const { waitMs, limit } = gate.take(address, deps.nowMs())
  if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
  return ok(new PayingVisitor(request, waitUntil, address, deps))
}

class PayingVisitor {
  readonly identity: Identity
  readonly charging: Charging = { hold: (_, price) => this.#hold(price) }
  readonly #request: Request
  /** The surface reads the other copy. Null: there is no payment, or no body. */
  readonly #copy: Request | null
  /** There is a payment, and its body is not known anymore. */
  readonly #isUncovered: boolean
  readonly #waitUntil: WaitUntil
  readonly #deps: PayingDeps
  readonly #caller: string
  #prices = 0
  #held: HeldPayment | null = null
  #isAnswered = false
  #error: PaymentError | null = null

  constructor(request: Request, waitUntil: WaitUntil, address: string | null, deps: PayingDeps) {
    this.#request = request
    this.#waitUntil = waitUntil
    this.#deps = deps
    // Surfaces read the body of a POST up to a limit before they hold a price. MCP has read it, and holds none itself.
    const hasPayment = request.method === 'POST' && request.headers.has('payment-signature')
    this.#isUncovered = hasPayment && request.bodyUsed
    this.#copy = hasPayment && !request.bodyUsed ? request.clone() : null
    this.#caller = address === null ? '' : networkOf(address)
    this.identity = {
      v: 1,
      account: 'x402',
      keyHash: keyHashOf(`x402 ${this.#caller}`),
      kind: 'api',
      plan: deps.networks[0]?.plan ?? '',
      products: ['info', 'rpc', 'data'],
    }
  }

  async #hold(price: Price): Promise<Result<Hold, Failure>> {
    if (price.amount === 0) return ok(FREE_HOLD)
    this.#prices++
    // A surface holds all prices of a request before it waits.
    await Promise.resolve()
    if (this.#prices > 1) return err(ONE_CALL)
    if (this.#isUncovered) throw new Error('a payment must cover the body of its request')
    const { networks } = this.#deps
    const { product, type } = price
    const held = await holdPayment(
      {
        request: this.#request,
        body: async () => this.#copy?.text() ?? '',
        offers: networks.map((network) => offerOn(network, quoteForCall(price.amount, network))),
        call: { product, type },
        caller: this.#caller,
        waitUntil: this.#waitUntil,
      },
      this.#deps,
    )
    if (!held.ok) {
      this.#error = held.error
      return err(held.error.failure)
    }
    this.#held = held.value
    return ok({ settle: () => this.#end(true), release: () => this.#end(false) })
  }

  #end(isAnswered: boolean): null {
    this.#isAnswered = isAnswered
    return null
  }

  /** Takes the payment of an answered call, and adds the headers of x402. */
  async complete(reply: Reply, refusal: (failure: Failure) => Reply): Promise<Reply> {
    if (this.#copy?.bodyUsed === false) await this.#copy.body?.cancel()
    if (this.#error !== null) return withHeaders(reply, this.#error.headers)
    if (this.#held === null) return reply
    if (!this.#isAnswered || reply.status >= 300) {
      this.#held.release()
      return reply
    }
    const receipt = await this.#held.settle()
    if (!receipt.ok) return withHeaders(refusal(receipt.error.failure), receipt.error.headers)
    const cost = { 'x-credits-cost': formatCredits(this.#held.quote.micro), 'cache-control': 'no-store' }
    return withHeaders(reply, { ...cost, ...receipt.value.headers })
  }
}

const withHeaders = (reply: Reply, headers: Readonly<Record<string, string>>): Reply => ({
  ...reply,
  headers: { ...reply.headers, ...headers },
})
