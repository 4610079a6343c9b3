// Orders of owners and operators, on real storage.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyResolver } from '../../../src/accounts/key-resolver.store.ts'
import type { AutoTopUpApi } from '../../../src/billing/checkout/checkout-api.ts'
import { type SettledPayment, walletAccount } from '../../../src/billing/x402/booking.ts'
import type { Platform } from '../../../src/http/platform/platform-api.ts'
import { walletAccountsOf } from '../../../src/http/x402/wallet-accounts.client.ts'
import { ask as admin, bindings, enter, keyed, meterOf, newKey, platformOf, TERMS } from './operator.worker.ts'

const ask = keyed()
const own = (key: string, method: string, body?: unknown) => ask(method, '/platform/checkout', key, body)

describe('an order', () => {
  it('is created by the owner and settled by the operator, which adds its credits', async () => {
    const { key, account } = await newKey({ plan: 'enterprise', credits: 1, kind: 'service' })
    const offers = await own(key, 'GET')
    expect(offers.data).toMatchObject({
      provider: 'manual',
      currency: 'usd',
      lots: null,
      orders: [],
      packages: [{ name: 'small', credits: '100000', amount: '19.00' }],
    })
    const made = await own(key, 'POST', { package: 'small' })
    expect([made.status, made.data.order.state]).toEqual([201, 'open'])
    const { number } = made.data.order
    const listed = await admin('GET', `/orders?account=${account}&state=open`)
    expect(listed.json).toMatchObject({ orders: [{ number, account, amount: '19.00' }], next: null })
    for (let i = 0; i < 2; i++)
      expect((await admin('POST', `/orders/${number}/paid`)).json).toMatchObject({ number, state: 'paid' })
    expect((await admin('GET', `/accounts/${account}`)).json).toMatchObject({ balance: '100001', granted: '100001' })
    expect((await own(key, 'GET')).data.orders).toMatchObject([{ number, state: 'paid' }])
    expect((await admin('POST', `/orders/${number}/void`)).status).toBe(409)
    // A grant of the operator with that name is the same grant.
    const grant = { credits: 100_000, idempotency_key: number }
    expect((await admin('POST', `/accounts/${account}/grants`, grant)).json).toMatchObject({ repeated: true })
  })

  it('belongs to its account only', async () => {
    const mine = await newKey({ kind: 'service' })
    const other = await newKey({ kind: 'service' })
    await own(mine.key, 'POST', { package: 'small' })
    expect((await own(other.key, 'GET')).data.orders).toEqual([])
  })

  it('needs a service key and a sold product', async () => {
    const reads = await newKey({ account: (await newKey({ kind: 'service' })).account })
    expect((await own(reads.key, 'POST', { package: 'small' })).status).toBe(403)
    expect((await own(reads.key, 'GET')).status).toBe(200)
    const { key } = await newKey({ kind: 'service', plan: 'enterprise', credits: 1 })
    for (const [body, said] of [
      [{}, 'body: '],
      [{ package: 'small', credits: 1 }, 'body: '],
      [{ package: 'x'.repeat(65) }, 'package: must be at most 64 characters'],
      [{ package: 'other' }, 'package: must be one of "small"'],
      [{ credits: -5 }, 'credits: must not be negative'],
      [{ credits: 1e30 }, 'credits: '],
      [{ credits: 100_000 }, 'credits: custom amounts are not sold here'],
      [{ package: 'small', minor: 1 }, 'minor: unknown field'],
    ] as const) {
      const refused = await own(key, 'POST', body)
      expect([refused.status, refused.said]).toEqual([400, expect.stringContaining(said)])
    }
  })

  it('is not found if it does not exist, and the list continues page by page', async () => {
    expect((await admin('POST', '/orders/W-999999-aaaa/paid')).status).toBe(404)
    expect((await admin('POST', '/orders/none/void')).status).toBe(400)
    expect((await admin('GET', '/orders?before=x')).status).toBe(400)
    const all = (await admin('GET', '/orders')).json.orders as { number: string }[]
    const seq = Number(all[0]!.number.split('-')[1])
    expect(
      (await admin('GET', `/orders?before=${seq}`)).json.orders.map(({ number }: { number: string }) => number),
    ).toEqual(all.slice(1).map(({ number }) => number))
  })
})

describe('auto top-up', () => {
  const PATH = '/platform/auto-top-up/'

  it('needs a provider that can charge a saved card, and a key that manages the account', async () => {
    const { key, account } = await newKey({ kind: 'service', plan: 'enterprise', credits: 1 })
    const reads = await newKey({ account })
    expect((await ask('GET', PATH, key)).data).toMatchObject({ account, available: false, state: 'off', card: null })
    expect((await ask('GET', PATH, reads.key)).status).toBe(403)
    const settings = { below: '1', package: 'small', monthly_limit: '100' }
    for (const [method, path, body] of [
      ['PUT', PATH, settings],
      ['POST', `${PATH}card`, undefined],
      ['DELETE', PATH, undefined],
      ['DELETE', `${PATH}card`, undefined],
    ] as const)
      expect([method, (await ask(method, path, key, body)).status]).toEqual([method, 404])
    expect((await ask('PUT', PATH, key, { ...settings, credits: 1 })).status).toBe(400)
    expect((await admin('GET', `/accounts/${account}/auto-top-up`)).json).toMatchObject({ available: false })
  })

  it('shows settings, card, charges and changes, and passes on what the owner and the operator do', async () => {
    const { key, account, prefix } = await newKey({ kind: 'service', plan: 'enterprise', credits: 1 })
    const calls: unknown[][] = []
    const purchase = { package: 'small' }
    const settings = { below: 5e6, purchase, micro: 1e11, minor: 1_900, currency: 'usd', monthly: 10_000 }
    const current = {
      account,
      state: 'stopped',
      settings,
      card: { customer: 'cus_1', method: 'pm_1', face: { brand: 'visa', last4: '4242', expires: '2028-04' } },
      setup: null,
      stop: { reason: 'declined', atMs: 5, order: 'W-17-k3Fz' },
      failedMs: Date.now(),
      isTold: true,
    } as const
    const view = {
      current,
      charged: 1_900,
      order: null,
      changes: [{ at: 5, by: prefix, member: null, what: 'on' as const }],
    }
    const autoTopUps: AutoTopUpApi = {
      view: async () => view,
      turnOn: async (...given) => {
        calls.push(given)
        return { ok: true, value: undefined }
      },
      turnOff: async (...given) => void calls.push(given),
      openSetup: async () => ({ ok: true, value: 'https://checkout.stripe.com/c/setup/cs_1' }),
      removeCard: async () => ({ ok: false, error: { kind: 'unavailable', what: 'The provider did not answer' } }),
      advance: async () => ({ state: 'off' }),
    }
    const platform = { ...platformOf(), checkout: { autoTopUps } as unknown as Platform['checkout'] }
    const there = keyed({ platform })
    const body = { below: '5', package: 'small', monthly_limit: '100' }
    expect((await there('PUT', PATH, key, body)).data).toMatchObject({
      available: true,
      state: 'stopped',
      settings: { below: '5', package: 'small', credits: '100000', amount: '19.00', monthly_limit: '100.00' },
      charged_this_month: '19.00',
      card: { brand: 'visa', last4: '4242', expires: '2028-04' },
      stopped: { at: 5, reason: 'declined', order: 'W-17-k3Fz' },
      not_before: current.failedMs + 86_400_000,
      changes: [{ at: 5, by: prefix, what: 'on' }],
    })
    expect((await there('POST', `${PATH}card`, key)).data.url).toContain('https://checkout.stripe.com/')
    expect((await there('DELETE', PATH, key)).status).toBe(200)
    expect((await there('DELETE', `${PATH}card`, key)).status).toBe(503)
    const author = { root: expect.stringMatching(/^[0-9a-f]{64}$/), member: null }
    expect(calls).toEqual([
      [account, { below: 5e6, package: 'small', monthly: '100' }, author],
      [account, author],
    ])
  })
})

const DETAILS = { name: 'Acme Ltd', address: ['1 High Street', 'London'], country: 'GB', tax_id: 'GB1', email: null }
const invoiceOf = (key: string, number: string) => ask('GET', `/platform/checkout/${number}/invoice`, key)

/** A plan without a limit of requests. */
const OWNER = { kind: 'service', plan: 'enterprise', credits: 1 }
describe('an invoice', () => {
  it('keeps the seller, the buyer and the tax of the time of its order', async () => {
    const { key, account } = await newKey(OWNER)
    expect((await ask('PUT', '/platform/billing', key, DETAILS)).data.details).toEqual(DETAILS)
    const order = (await own(key, 'POST', { package: 'small' })).data.order
    const { number, created } = order
    expect(order).toMatchObject({ amount: '19.00', invoice: true, reference: number })
    await ask('PUT', '/platform/billing', key, { ...DETAILS, name: 'Renamed Ltd' })
    const terms = { ...TERMS, seller: { ...TERMS.seller, name: 'Moved GmbH' }, tax: { ...TERMS.tax!, rate: '7' } }
    const later = keyed({ platform: platformOf(false, false, undefined, terms) })
    const { data } = await later('GET', `/platform/checkout/${number}/invoice`, key)
    expect(data).toMatchObject({ number, account, buyer: DETAILS, seller: { name: 'Seller GmbH', tax_id: 'DE1' } })
    expect(data).toMatchObject({ net: '15.97', tax: { name: 'VAT', rate: '19', amount: '3.03' }, gross: '19.00' })
    expect(data).toMatchObject({ state: 'open', paid: '0.00', amount_due: '19.00', correction: null })
    expect(Date.parse(data.due) - Date.parse(data.issued)).toBe(30 * 86_400_000)
    expect(data.issued).toBe(new Date(created).toISOString().slice(0, 10))
    await admin('POST', `/orders/${number}/paid`)
    expect((await invoiceOf(key, number)).data).toMatchObject({ paid: '19.00', amount_due: '0.00', buyer: DETAILS })
    const second = (await later('POST', '/platform/checkout', key, { package: 'small' })).data.order.number
    expect((await invoiceOf(key, second)).data).toMatchObject({
      buyer: { name: 'Renamed Ltd' },
      seller: { name: 'Moved GmbH' },
      tax: { rate: '7', amount: '1.24' },
    })
  })

  it('adds a tax that the prices do not include to the order', async () => {
    const { key } = await newKey(OWNER)
    const plus = { ...TERMS, tax: { ...TERMS.tax!, included: false } }
    const call = keyed({ platform: platformOf(false, false, undefined, plus) })
    const { order } = (await call('POST', '/platform/checkout', key, { package: 'small' })).data
    expect(order.amount).toBe('22.61')
    expect((await call('GET', '/platform/checkout', key)).data).toMatchObject({
      tax: { included: false },
      packages: [{ amount: '19.00' }],
    })
    const { data } = await invoiceOf(key, order.number)
    expect(data).toMatchObject({ net: '19.00', tax: { amount: '3.61' }, gross: '22.61', buyer: null })
  })

  it('exists for the account only, and only if the operator set who sells', async () => {
    const { key, account } = await newKey(OWNER)
    const without = keyed({ platform: platformOf(false, false, undefined, null) })
    const { order } = (await without('POST', '/platform/checkout', key, { package: 'small' })).data
    expect(order.invoice).toBe(false)
    expect((await invoiceOf(key, order.number)).status).toBe(404)
    const { number } = (await own(key, 'POST', { package: 'small' })).data.order
    const other = await newKey(OWNER)
    expect((await invoiceOf(other.key, number)).status).toBe(404)
    expect((await invoiceOf((await newKey({ account })).key, number)).status).toBe(403)
    const listed = (await ask('GET', '/platform/checkout/orders', key)).data
    expect(listed.orders.map(({ invoice }: { invoice: boolean }) => invoice)).toEqual([true, false])
    expect((await ask('GET', `/platform/checkout/orders?before=${number.split('-')[1]}`, key)).data).toMatchObject({
      orders: [{ number: order.number }],
      next: null,
    })
  })

  it('of a payment by x402 names its network and transaction', async () => {
    const payment = newPayment()
    const { book, issueKey } = walletsWith()
    const { number } = await book(payment)
    const { key } = (await issueKey(payment.account, 'first', 'service'))!
    expect((await invoiceOf(key, number)).data).toMatchObject({
      net: '0.004202',
      tax: { amount: '0.000798' },
      gross: '0.005000',
      currency: 'usdc',
      payment: { method: 'x402', reference: '0xabc', network: 'eip155:8453', paid: 1_000 },
    })
  })
})

describe('billing details', () => {
  it('are shown to the operator, with who changed them', async () => {
    const { key, account, prefix } = await newKey(OWNER)
    expect((await ask('GET', '/platform/billing/', key)).data).toEqual({ account, details: null, changes: [] })
    expect((await admin('GET', `/accounts/${account}`)).json.billing).toBeNull()
    for (let i = 0; i < 2; i++)
      await ask('PUT', '/platform/billing', key, { ...DETAILS, name: ' Acme Ltd ', email: 'a@b.example' })
    await admin('PUT', `/accounts/${account}/billing`, DETAILS)
    const { json } = await admin('GET', `/accounts/${account}/billing`)
    expect(json.changes).toMatchObject([
      { by: null, details: { email: null } },
      { by: prefix, details: { name: 'Acme Ltd', email: 'a@b.example' } },
    ])
    expect(json.changes).toHaveLength(2)
    expect((await admin('GET', `/accounts/${account}`)).json.billing).toEqual(DETAILS)
    const audit = (await admin('GET', '/audit?action=setBilling')).json
    expect(JSON.stringify(audit)).toContain(account)
  })

  it('are printable lines of limited length, and change at most 20 times per day', async () => {
    const { key } = await newKey(OWNER)
    const put = (details: object) => ask('PUT', '/platform/billing', key, { ...DETAILS, ...details })
    for (const [wrong, said] of [
      [{ name: '  ' }, 'name: must not be empty'],
      [{ name: 'x'.repeat(201) }, 'name: must be at most 200 characters'],
      [{ name: 'a\u202eb' }, 'name: must not contain line breaks'],
      [{ address: ['a\nb'] }, 'address.0: must not contain line breaks'],
      [{ address: [] }, 'address: must be at least 1 entries'],
      [{ address: Array.from({ length: 7 }, () => 'x') }, 'address: must be at most 6 entries'],
      [{ country: 'UK' }, 'country: must be an ISO 3166-1'],
      [{ email: 'a' }, 'email: must be an e-mail address'],
      [{ vat: 'DE1' }, 'vat: unknown field'],
    ] as const) {
      const { status, said: message } = await put(wrong)
      expect([status, message]).toEqual([400, expect.stringContaining(said)])
    }
    for (let i = 0; i < 20; i++) expect((await put({ tax_id: `GB${i}` })).status).toBe(200)
    expect(await put({ tax_id: 'GB20' })).toMatchObject({ status: 429, said: expect.stringContaining('20 times') })
    expect((await put({ tax_id: 'GB19' })).status).toBe(200)
  })
})

/** What a step of booking does before it fails; null: nothing fails. */
type Crash = { readonly at: number; readonly when: 'before' | 'after' } | null

/** Calls the steps, and fails once at one of them, before or after its effect. */
class Crashing {
  #steps = 0
  readonly #crash: Crash

  constructor(crash: Crash) {
    this.#crash = crash
  }

  async step<T>(run: () => Promise<T>): Promise<T> {
    const here = this.#crash?.at === this.#steps++ ? this.#crash.when : null
    if (here === 'before') throw new Error('killed')
    const result = await run()
    if (here === 'after') throw new Error('killed')
    return result
  }

  /** The same object, whose asynchronous methods are steps. */
  wrap<T extends object>(target: T, methods: readonly string[]): T {
    return new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name)
        if (typeof value !== 'function') return value
        const call = (...args: unknown[]) => Reflect.apply(value, object, args)
        if (methods.includes(String(name))) return (...args: unknown[]) => this.step(async () => call(...args))
        if (name !== 'prepare' && name !== 'bind') return call
        return (...args: unknown[]) => this.wrap(call(...args) as object, methods)
      },
    })
  }
}

function walletsWith(crash: Crash = null) {
  const { accounts, keys } = platformOf()
  const crashing = new Crashing(crash)
  return walletAccountsOf({
    db: crashing.wrap(bindings.ACCOUNTS, ['first', 'run', 'all', 'batch']),
    accounts: crashing.wrap(accounts, ['ensurePrepaid', 'grant']),
    keys: crashing.wrap(keys, ['revoke']),
    networks: [
      { network: 'eip155:1', plan: 'enterprise' },
      { network: 'eip155:8453', plan: 'entry' },
    ],
    terms: TERMS,
    visitorsRegion: () => null,
    nowMs: () => Date.now(),
  })
}

let wallets = 0
const CREDITS = { micro: 5_000_000, minor: 5_000, currency: 'usdc', call: null }
const CALL = { product: 'info', type: 'l2Book' } as const
function newPayment(over: Partial<SettledPayment> = {}): SettledPayment {
  const address = `0x${(++wallets).toString(16).padStart(40, 'a')}`
  const reference = `eip155:8453:${address}:0x${wallets.toString(16).padStart(64, '0')}`
  return { ...CREDITS, reference, account: walletAccount(address), transaction: '0xabc', settledMs: 1_000, ...over }
}
const unclear = ({ transaction: _, settledMs: __, ...payment }: SettledPayment) => ({
  ...payment,
  note: 'ask the chain',
})
const ordersOf = async (account: string) => (await admin('GET', `/orders?account=${account}&provider=x402`)).json.orders

describe('a payment by x402', () => {
  it('is an order of the wallet’s account that grants credits, and shows where other orders do', async () => {
    const settledMs = Date.now()
    const payment = newPayment({ settledMs })
    const { account } = payment
    const { book, issueKey } = walletsWith()
    expect(await book(payment)).toMatchObject({ provider: 'x402', state: 'paid', paid: settledMs, receipt: '0xabc' })
    expect(await book(payment)).toMatchObject({ reference: payment.reference })
    expect(await ordersOf(account)).toMatchObject([
      { amount: '0.005000', currency: 'usdc', credits: '5', network: 'eip155:8453', transaction: '0xabc', note: null },
    ])
    expect((await admin('GET', '/orders?provider=manual')).json.orders).not.toContainEqual(
      expect.objectContaining({ account }),
    )
    // Neither the first period of the plan nor a later one gives credits.
    const shown = (await admin('GET', `/accounts/${account}`)).json
    expect(shown).toMatchObject({ plan: 'entry', terms: { credits: '0' }, balance: '5', spent: '0', granted: '5' })
    expect(shown).toMatchObject({ period: { credits: '0', renews_with: '0' }, keys: [] })
    const issued = await issueKey(account, 'first', 'api')
    expect((await own(issued!.key, 'GET')).data.orders).toMatchObject([{ provider: 'x402', state: 'paid' }])
    const { paid } = (await admin('GET', '/business')).json
    expect(paid).toContainEqual({ currency: 'usdc', orders: 1, amount: '0.005000', refunded: '0.000000' })
  })

  it('cannot be marked paid before its credits are granted, which would lose the charge for its call', async () => {
    const payment = newPayment({ call: CALL })
    const { account } = payment
    let number: string | undefined
    for (let at = 0; at < 10 && number === undefined; at++) {
      await walletsWith({ at, when: 'before' })
        .book(payment)
        .catch(() => undefined)
      const [order] = await ordersOf(account)
      if (order?.granted === null) number = order.number
    }
    expect(await admin('POST', `/orders/${number}/paid`)).toMatchObject({ status: 409 })
    await walletsWith().book(payment)
    expect((await admin('GET', `/accounts/${account}`)).json).toMatchObject({ balance: '0', spent: '5', granted: '5' })
  })

  it('that paid for a call spends its credits at once, under a key that nobody has', async () => {
    const payment = newPayment({ call: CALL })
    const { account } = payment
    const { book } = walletsWith()
    await book(payment)
    await book({ ...newPayment({ call: CALL }), account })
    const shown = (await admin('GET', `/accounts/${account}`)).json
    expect(shown).toMatchObject({ balance: '0', spent: '10', granted: '10' })
    expect(shown.keys).toMatchObject([{ label: 'x402', prefix: 'x402', revoked: expect.any(Number) }])
    const usage = (await admin('GET', `/accounts/${account}/usage`)).json
    expect(usage.rows).toMatchObject([{ product: 'info', type: 'l2Book', label: 'x402', calls: 2, credits: '10' }])
    const { differences } = await platformOf()
      .recovery.reconcile(before(account), false)
      .then(({ done }) => done[0]!)
    expect(differences).toEqual([])
  })

  it('whose outcome is unclear waits for the operator, who decides once', async () => {
    const { book, bookUnclear } = walletsWith()
    const taken = newPayment({ call: CALL })
    const refused = newPayment()
    for (const payment of [taken, refused, taken]) await bookUnclear(unclear(payment))
    const [[open], [other]] = await Promise.all([taken, refused].map(({ account }) => ordersOf(account)))
    expect(open).toMatchObject({ state: 'open', note: 'ask the chain', transaction: null, granted: null })
    expect((await admin('POST', `/orders/${open.number}/paid`)).json).toMatchObject({ state: 'paid' })
    expect((await admin('POST', `/orders/${other.number}/void`)).json).toMatchObject({ state: 'void' })
    await bookUnclear(unclear(refused))
    expect(await ordersOf(refused.account)).toMatchObject([{ state: 'void' }])
    // The chain shows both after all.
    await book(taken)
    await book(refused)
    expect(await ordersOf(taken.account)).toMatchObject([{ state: 'paid', transaction: '0xabc' }])
    expect(await ordersOf(refused.account)).toMatchObject([
      { state: 'paid', note: 'paid on the chain although it was void' },
    ])
    expect((await admin('GET', `/accounts/${taken.account}`)).json).toMatchObject({ balance: '5', granted: '5' })
    expect((await admin('GET', `/accounts/${refused.account}`)).json).toMatchObject({ balance: '5', granted: '5' })
  })

  it('is booked once, whatever was repeated or killed before', async () => {
    const crash = fc.oneof(
      fc.constant(null),
      fc.record({ at: fc.nat({ max: 12 }), when: fc.constantFrom('before' as const, 'after' as const) }),
    )
    const attempt = fc.record({ what: fc.constantFrom('book', 'unclear', 'twice', 'operator'), crash })
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { maxLength: 4 }), fc.boolean(), async (attempts, isCall) => {
        const payment = newPayment({ call: isCall ? CALL : null })
        let isMarked = false
        for (const { what, crash } of attempts) {
          const { book, bookUnclear } = walletsWith(crash)
          if (what === 'operator') {
            const [order] = await ordersOf(payment.account)
            isMarked ||= order?.granted === null
            if (order) await admin('POST', `/orders/${order.number}/paid`)
          } else if (what === 'unclear') await bookUnclear(unclear(payment)).catch(killed)
          else {
            const booked = await Promise.allSettled([book(payment), what === 'twice' && book(payment)])
            for (const one of booked) if (one.status === 'rejected') killed(one.reason)
          }
        }
        await walletsWith().book(payment)
        expect(await ordersOf(payment.account)).toMatchObject([{ state: 'paid', transaction: '0xabc', note: null }])
        const { granted, spent, available } = await meterOf(payment.account).balance()
        expect(granted).toBe(payment.micro)
        if (!isCall) expect(spent).toBe(0)
        else if (!isMarked) expect(spent).toBe(payment.micro)
        expect(available).toBe(granted - spent)
        expect((await admin('GET', `/grants?account=${payment.account}`)).json.grants).toHaveLength(1)
      }),
      { numRuns: 25 },
    )
  })

  it('is the only way to such an account', async () => {
    const { account } = newPayment()
    for (const id of [account, account.toUpperCase()])
      expect((await admin('PUT', `/accounts/${id}`)).text).toContain('Only a payment by x402')
  })
})

const killed = (error: Error) => expect(error.message).toBe('killed')
/** A cursor just before this account. */
const before = (account: string) =>
  `${account.slice(0, -1)}${String.fromCharCode(account.charCodeAt(account.length - 1) - 1)}`

describe('the key of a wallet', () => {
  it('is issued once, and rotated by the wallet', async () => {
    const { book, issueKey } = walletsWith()
    const payment = newPayment()
    const { account } = payment
    await book(payment)
    const issued = await Promise.all([issueKey(account, 'first', 'api'), issueKey(account, 'first', 'api')])
    const [first] = issued.filter((key) => key !== null)
    expect(issued).toContain(null)
    expect(await issueKey(account, 'first', 'api')).toBeNull()
    const ring = new KeyResolver()
    expect(await enter(ring, first!.key)).toBe('ok')
    const second = await issueKey(account, 'rotate', 'api')
    expect(await enter(new KeyResolver(), first!.key)).toBe('key_replaced')
    expect(await enter(ring, second!.key)).toBe('ok')
    expect(await issueKey(account, 'first', 'api')).toBeNull()
    // A key of the operator for the account stays.
    const other = await newKey({ account })
    await admin('DELETE', `/keys/${second!.hash}`)
    const third = await issueKey(account, 'first', 'api')
    const both = await Promise.all([issueKey(account, 'rotate', 'api'), issueKey(account, 'rotate', 'api')])
    const active = [third, ...both].map(async (key) => enter(new KeyResolver(), key!.key))
    expect((await Promise.all(active)).filter((result) => result === 'ok')).toHaveLength(1)
    expect(await enter(new KeyResolver(), other.key)).toBe('ok')
  })

  it('of another kind leaves it as it is', async () => {
    const { book, issueKey } = walletsWith()
    const payment = newPayment()
    const { account } = payment
    await book(payment)
    const api = await issueKey(account, 'first', 'api')
    const service = await issueKey(account, 'rotate', 'service')
    const next = await issueKey(account, 'rotate', 'service')
    const { keys } = (await admin('GET', `/keys?account=${account}`)).json as { keys: { hash: string; kind: string }[] }
    const of = (key: typeof api) => keys.find(({ hash }) => hash === key!.hash)
    expect(of(api)).toMatchObject({ kind: 'api', revoked: null })
    expect(of(service)).toMatchObject({ kind: 'service', revoked: expect.any(Number) })
    expect(of(next)).toMatchObject({ kind: 'service', revoked: null })
  })
})
