// Purchases from start to grant on real storage. Stripe's events arrive twice, late, reordered, forged, about something
// else, or at a gateway that dies halfway.

import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MANUAL, type Provider } from '../../../src/billing/checkout/checkout-api.ts'
import { CheckoutService } from '../../../src/billing/checkout/checkout-service.client.ts'
import { CheckoutPrices } from '../../../src/billing/checkout/prices.ts'
import { stripe } from '../../../src/billing/checkout/stripe/stripe.client.ts'
import { stripeRoutes } from '../../../src/billing/checkout/stripe/stripe.route.ts'
import { stripeCards } from '../../../src/billing/checkout/stripe/stripe-cards.client.ts'
import { STRIPE_API } from '../../../src/billing/checkout/stripe/stripe-http.client.ts'
import { SECRET_KEY, StripeStub, signed, WEBHOOK_SECRET } from './stripe-stub.ts'

const { ACCOUNTS: db } = env as unknown as Cloudflare.Env
const NOW_MS = 1_790_000_000_000
const prices = CheckoutPrices.parse({
  currency: 'eur',
  packages: [
    { name: 'small', credits: 100, minor: 100 },
    { name: 'large', credits: 1_000, minor: 900 },
  ],
})

let stub = new StripeStub()
beforeAll(() => {
  vi.stubGlobal('fetch', async (url: string, init: RequestInit & { body?: string }) => {
    const { origin, pathname, search } = new URL(url)
    expect(origin).toBe(STRIPE_API)
    const [status, json] = stub.answer(init.method!, pathname + search, new Headers(init.headers), init.body ?? '')
    return Response.json(json, { status })
  })
})
afterAll(() => vi.unstubAllGlobals())

let accounts = 0
async function newAccount(): Promise<string> {
  const id = `buyer-${++accounts}`
  await db.prepare("INSERT INTO accounts (id, plan, created) VALUES (?, 'entry', 1)").bind(id).run()
  return id
}

const STRIPE = { secretKey: SECRET_KEY, apiUrl: STRIPE_API, publicUrl: 'https://w.example' }

/** A gateway with a ledger that the test can read and make fail. */
function desk(provider: Provider | null = stripe(STRIPE)) {
  const world = { nowMs: NOW_MS, isBroken: false, ledger: new Map<string, number>(), told: [] as string[] }
  /** Called while a grant is in progress. */
  const meanwhile = { work: async () => {} }
  const checkout = new CheckoutService({
    db,
    prices,
    terms: null,
    provider,
    cards: provider?.name === 'stripe' ? stripeCards(STRIPE) : null,
    meterOf: () => ({
      watchTopUp: async ({ below }) => void world.told.push(`watch ${below}`),
      topUpStopped: async (_, { reason }) => void world.told.push(`stopped ${reason}`),
    }),
    nowMs: () => world.nowMs,
    report: (error) => void world.told.push(String(error)),
    grant: async (account, id, micro) => {
      if (world.isBroken) throw new Error('simulated gateway crash')
      const before = world.ledger.get(`${account} ${id}`)
      if (before !== undefined && before !== micro) return { ok: false, error: { kind: 'conflict', message: '' } }
      world.ledger.set(`${account} ${id}`, micro)
      await meanwhile.work()
      return { ok: true, value: null }
    },
  })
  const app = stripeRoutes({
    events: checkout,
    webhookSecret: WEBHOOK_SECRET,
    requestId: () => 'req_1',
    now: () => world.nowMs,
  })
  app.onError(() => new Response(null, { status: 500 }))
  const post = async (body: string, header?: string | null) => {
    const signature = header === undefined ? await signed(body, world.nowMs / 1000) : header
    const answer = await app.request('/checkout/stripe', {
      method: 'POST',
      body,
      headers: signature === null ? {} : { 'stripe-signature': signature },
    })
    const json = (await answer.json().catch(() => null)) as { outcome?: string } | null
    return { status: answer.status, outcome: json?.outcome }
  }
  const order = async (account: string, name = 'small') => {
    const begun = await checkout.start(account, { package: name })
    if (!begun.ok) throw new Error(JSON.stringify(begun.error))
    return { ...begun.value, session: begun.value.reference! }
  }
  const shown = async (number: string) =>
    (await db.prepare('SELECT state, paid, granted, refunded, note FROM orders WHERE number = ?').bind(number).first())!
  const granted = () => [...world.ledger.values()].reduce((sum, micro) => sum + micro, 0)
  return { world, meanwhile, checkout, post, order, shown, granted }
}

describe('a Stripe purchase', () => {
  it('is granted once, however often and late its event arrives', async () => {
    const { post, order, shown, granted, world } = desk()
    const { number, session, url } = await order(await newAccount())
    expect(url).toBe(`https://checkout.stripe.com/c/pay/${session}`)
    const event = stub.paid(session)
    expect(await post(event)).toEqual({ status: 200, outcome: 'granted' })
    expect(await post(event)).toEqual({ status: 200, outcome: 'granted' })
    expect(await post(stub.paid(session))).toEqual({ status: 200, outcome: 'already paid' })
    world.nowMs += 3 * 86_400_000
    expect(await post(event)).toEqual({ status: 200, outcome: 'granted' })
    expect(granted()).toBe(100_000_000)
    expect(await shown(number)).toMatchObject({ state: 'paid', paid: NOW_MS, granted: NOW_MS, note: null })
  })

  it('can be paid later, fail, or be paid after failing', async () => {
    const { post, order, shown, granted } = desk()
    const account = await newAccount()
    const { number, session } = await order(account)
    expect(await post(stub.event('checkout.session.completed', session))).toMatchObject({
      outcome: 'waiting for the payment',
    })
    expect(await shown(number)).toMatchObject({ state: 'open' })
    await post(stub.event('checkout.session.async_payment_failed', session))
    expect(await shown(number)).toMatchObject({ state: 'failed', note: 'the payment failed' })
    await post(stub.event('checkout.session.async_payment_succeeded', session, { payment_status: 'paid' }))
    expect(await shown(number)).toMatchObject({ state: 'paid', note: null })
    expect(await post(stub.event('checkout.session.async_payment_failed', session))).toMatchObject({
      outcome: 'too late',
    })
    expect(await post(stub.event('checkout.session.expired', session))).toMatchObject({ outcome: 'too late' })
    expect(granted()).toBe(100_000_000)
    const other = await order(account)
    await post(stub.event('checkout.session.expired', other.session))
    expect(await shown(other.number)).toMatchObject({ state: 'void', note: 'not paid in time' })
  })

  it('is completed by the next delivery if the gateway died between payment and grant', async () => {
    const { world, post, order, shown, granted } = desk()
    const { number, session } = await order(await newAccount())
    const event = stub.paid(session)
    world.isBroken = true
    expect((await post(event)).status).toBe(500)
    expect(await shown(number)).toMatchObject({ state: 'paid', granted: null })
    world.isBroken = false
    expect(await post(event)).toEqual({ status: 200, outcome: 'granted' })
    expect(await shown(number)).toMatchObject({ state: 'paid', granted: NOW_MS })
    expect(granted()).toBe(100_000_000)
  })

  it.each([
    ['another sum', { amount_total: 99 }],
    ['another currency', { currency: 'jpy' }],
    ['nothing', { amount_total: 0 }],
    ['less than nothing', { amount_total: -100 }],
  ])('grants nothing for %s, and tells the operator', async (_, over) => {
    const { world, post, order, shown, granted } = desk()
    const { number, session } = await order(await newAccount())
    expect((await post(stub.paid(session, over))).outcome).toMatch(/^refused: paid .* instead of 1\.00 eur/)
    expect(await shown(number)).toMatchObject({ state: 'open', note: expect.stringContaining('nothing was granted') })
    expect([granted(), world.told.length]).toEqual([0, 1])
  })

  it('is not paid by a payment for another purchase', async () => {
    const { post, order, granted } = desk()
    const mine = await order(await newAccount())
    const other = await order(await newAccount())
    const about = (metadata: object) => stub.paid(other.session, { metadata })
    for (const [event, outcome] of [
      [about({ order: mine.number, account: mine.account }), 'refused: an event named another payment'],
      [about({ order: mine.number, account: other.account }), 'refused: an event named another account'],
      [about({ order: 'W-999999-aaaa' }), 'refused: not an order of this gateway'],
      [about({}), 'not an event of an order'],
      [stub.event('customer.created', other.session), 'not an event of an order'],
      [stub.event('checkout.session.completed', other.session, { amount_total: 1.5 }), 'not an event of an order'],
    ] as const)
      expect(await post(event)).toEqual({ status: 200, outcome })
    expect(granted()).toBe(0)
  })

  it('keeps its credits after a refund, and gets none if refunded before the grant', async () => {
    const { post, order, shown, granted } = desk()
    const account = await newAccount()
    const one = await order(account)
    await post(stub.paid(one.session))
    await post(stub.refund(one.session, 100))
    expect(await post(stub.refund(one.session, 40))).toMatchObject({ outcome: 'already recorded' })
    expect(await post(stub.paid(one.session))).toMatchObject({ outcome: 'already paid' })
    expect(await shown(one.number)).toMatchObject({ state: 'paid', granted: NOW_MS, refunded: 100 })
    const two = await order(account)
    await post(stub.refund(two.session, 100))
    for (let i = 0; i < 2; i++)
      expect(await post(stub.paid(two.session))).toMatchObject({
        outcome: expect.stringContaining('refunded before'),
      })
    expect(await shown(two.number)).toMatchObject({ state: 'paid', granted: null, refunded: 100 })
    expect(granted()).toBe(100_000_000)
  })

  it('records the grant even if it is refunded meanwhile', async () => {
    const { meanwhile, post, order, shown, granted } = desk()
    const { number, session } = await order(await newAccount())
    meanwhile.work = async () => void (await post(stub.refund(session, 40)))
    expect(await post(stub.paid(session))).toMatchObject({ outcome: 'granted' })
    expect(await shown(number)).toMatchObject({ state: 'paid', granted: NOW_MS, refunded: 40 })
    expect(granted()).toBe(100_000_000)
  })

  it('is paid once if it was marked as paid manually: its session ends', async () => {
    const { checkout, order, shown } = desk()
    const account = await newAccount()
    const { number, session } = await order(account)
    expect(await checkout.pay(number)).toMatchObject({ ok: true, value: { state: 'paid', granted: NOW_MS } })
    expect(stub.sessions.get(session)!.status).toBe('expired')
    const other = await order(account)
    stub.sessions.get(other.session)!.status = 'complete'
    expect(await checkout.pay(other.number)).toMatchObject({ ok: true, value: { state: 'paid', granted: NOW_MS } })
    expect(await shown(other.number)).toMatchObject({ state: 'paid', note: null })
  })

  it('is voided with its session unless that was paid; a late payment is reported', async () => {
    const { checkout, post, order, shown, granted, world } = desk()
    const account = await newAccount()
    const { number, session } = await order(account)
    expect(await checkout.void(number)).toMatchObject({ ok: true, value: { state: 'void' } })
    expect(await checkout.void(number)).toMatchObject({ ok: true, value: { state: 'void' } })
    expect(stub.sessions.get(session)!.status).toBe('expired')
    expect((await post(stub.paid(session))).outcome).toContain('paid although it was void')
    expect([granted(), world.told.length]).toEqual([0, 1])
    expect(await checkout.pay(number)).toMatchObject({ ok: true, value: { state: 'paid', granted: NOW_MS } })
    expect(await checkout.void(number)).toMatchObject({ ok: false, error: { kind: 'conflict' } })
    const other = await order(account)
    stub.sessions.get(other.session)!.status = 'complete'
    expect(await checkout.void(other.number)).toMatchObject({ ok: false, error: { kind: 'conflict' } })
    expect(await shown(other.number)).toMatchObject({ state: 'open' })
  })

  it('does not start if Stripe rejects it, and can be started again', async () => {
    const wrong = desk(stripe({ secretKey: 'sk_other', apiUrl: STRIPE_API, publicUrl: 'https://w.example' }))
    const account = await newAccount()
    expect(await wrong.checkout.start(account, { package: 'small' })).toMatchObject({ error: { kind: 'unavailable' } })
    expect(await wrong.checkout.list({ account, limit: 5 })).toMatchObject([{ state: 'void' }])
    expect(JSON.stringify(wrong.world.told)).not.toContain('sk_other')
  })

  it('accepts only recent events signed by Stripe', async () => {
    const { post, order, shown, world } = desk()
    const { number, session } = await order(await newAccount())
    const event = stub.paid(session)
    const at = world.nowMs / 1000
    for (const header of [null, await signed(event, at, 'whsec_forged'), await signed(event, at - 301)])
      expect((await post(event, header)).status).toBe(401)
    const large = JSON.stringify({ pad: 'x'.repeat(300_000) })
    expect((await post(large, await signed(large, at))).status).toBe(413)
    for (const text of ['', 'no json', '[]', '{"id":"x"}', '{"id":"evt_1","type":"a b","data":{}}'])
      expect((await post(text, await signed(text, at))).status).toBe(400)
    expect(await shown(number)).toMatchObject({ state: 'open' })
  })
})

describe('a manual purchase', () => {
  it('is granted once, by its number', async () => {
    const { checkout, granted, world } = desk(MANUAL)
    const begun = await checkout.start(await newAccount(), { package: 'large' })
    const { number, account } = begun.ok ? begun.value : { number: '', account: '' }
    expect(begun).toMatchObject({ ok: true, value: { state: 'open', url: null, minor: 900 } })
    for (let i = 0; i < 3; i++) expect(await checkout.pay(number)).toMatchObject({ ok: true, value: { state: 'paid' } })
    expect([...world.ledger]).toEqual([[`${account} ${number}`, 1_000_000_000]])
    expect(granted()).toBe(1_000_000_000)
    expect(await checkout.pay('W-1-none')).toMatchObject({ error: { kind: 'not_found' } })
  })

  it('reports a failed grant and can be granted again', async () => {
    const { checkout, world, shown } = desk(MANUAL)
    const begun = await checkout.start(await newAccount(), { package: 'large' })
    const { number, account } = begun.ok ? begun.value : { number: '', account: '' }
    world.ledger.set(`${account} ${number}`, 1)
    expect(await checkout.pay(number)).toMatchObject({ ok: false, error: { kind: 'conflict' } })
    expect(await shown(number)).toMatchObject({
      state: 'paid',
      granted: null,
      note: expect.stringContaining('manually'),
    })
  })

  it('is limited to twenty per day, and disabled without a provider', async () => {
    const { checkout, world } = desk(MANUAL)
    const account = await newAccount()
    const clicks = Array.from({ length: 30 }, () => checkout.start(account, { package: 'small' }))
    const begun = (await Promise.all(clicks)).flatMap((order) => (order.ok ? [order.value.number] : []))
    expect([begun.length, new Set(begun).size]).toEqual([20, 20])
    await checkout.void(begun[0]!)
    expect(await checkout.start(account, { package: 'small' })).toMatchObject({ error: { kind: 'limit_reached' } })
    await checkout.pay(begun[1]!)
    expect((await checkout.start(account, { package: 'small' })).ok).toBe(true)
    world.nowMs += 86_400_001
    expect((await checkout.start(account, { package: 'small' })).ok).toBe(true)
    expect(await desk(null).checkout.start(account, { package: 'small' })).toMatchObject({
      error: { kind: 'not_found' },
    })
  })
})

describe('an automatic top-up', () => {
  it('charges the saved card, grants once, and stops at a failure', async () => {
    const { world, checkout, post, granted } = desk()
    const account = await newAccount()
    const cards = checkout.autoTopUps!
    const page = await cards.openSetup(account)
    const session = page.ok ? page.value.split('/').at(-1)! : ''
    expect(await cards.openSetup(account)).toEqual(page)
    const card = stub.saveCard(session)
    expect(await post(stub.setupEvent(session, account))).toEqual({ status: 200, outcome: 'card saved' })
    const settings = { below: 50_000_000, package: 'small', monthly: '2.50' }
    const author = { root: 'root', member: 'm-kim' }
    expect(await cards.turnOn(account, settings, author)).toEqual({ ok: true, value: undefined })
    expect(await cards.advance(account, false)).toEqual({ state: 'idle' })
    expect(await cards.advance(account, true)).toEqual({ state: 'idle' })
    const intent = [...stub.intents.keys()].at(-1)!
    expect((await post(stub.intentEvent(intent))).status).toBe(200)
    expect(granted()).toBe(100_000_000)
    card.mood = 'declined'
    expect(await cards.advance(account, true)).toEqual({ state: 'off' })
    expect(world.told).toEqual(['watch 50000000', 'stopped declined'])
    const { current, charged, changes } = await cards.view(account)
    expect([current?.state, charged, changes.map(({ what }) => what)]).toEqual([
      'stopped',
      100,
      ['stopped', 'on', 'card_saved'],
    ])
    expect(await cards.removeCard(account, author)).toEqual({ ok: true, value: undefined })
    const changers = (await cards.view(account)).changes.map(({ what, by, member }) => [what, by, member])
    expect(changers).toEqual([
      ['card_removed', 'root', 'm-kim'],
      ['stopped', null, null],
      ['on', 'root', 'm-kim'],
      ['card_saved', null, null],
    ])
    expect([card.isAttached, (await cards.view(account)).current?.card]).toEqual([false, null])
  })
})

describe('any sequence of events', () => {
  const step = fc.record({
    what: fc.constantFrom(
      'paid',
      'pending',
      'failed',
      'expired',
      'refund',
      'wrong',
      'again',
      'crash',
      'byHand',
      'void',
    ),
    which: fc.nat(2),
    more: fc.nat(50),
  })

  it('grants exactly the sum of the granted purchases, each once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        stub = new StripeStub()
        const { world, checkout, post, order, granted } = desk()
        const account = await newAccount()
        const orders = [await order(account), await order(account, 'large'), await order(account)]
        const sent: string[] = []
        const paid = new Set<string>()
        const deliver = async (event: string) => {
          sent.push(event)
          const { status } = await post(event)
          if (!world.isBroken) expect(status).toBe(200)
        }
        for (const { what, which, more } of steps) {
          const { number, session, minor } = orders[which]!
          world.isBroken = false
          if (['paid', 'crash', 'byHand'].includes(what)) paid.add(number)
          if (what === 'paid') await deliver(stub.paid(session))
          if (what === 'pending') await deliver(stub.event('checkout.session.completed', session))
          if (what === 'failed') await deliver(stub.event('checkout.session.async_payment_failed', session))
          if (what === 'expired') await deliver(stub.event('checkout.session.expired', session))
          if (what === 'refund') await deliver(stub.refund(session, more % 2 ? minor : 1 + (more % minor)))
          if (what === 'wrong') await deliver(stub.paid(session, { amount_total: minor + 1 + more }))
          if (what === 'again' && sent.length > 0) await deliver(sent[more % sent.length]!)
          if (what === 'byHand') await checkout.pay(number)
          if (what === 'void') await checkout.void(number)
          if (what === 'crash') {
            world.isBroken = true
            await deliver(stub.paid(session))
          }
        }
        world.isBroken = false
        for (const event of sent) expect((await post(event)).status).toBe(200)
        const rows = await checkout.list({ account, limit: 10 })
        const due = rows.filter(({ granted: at }) => at !== null)
        expect(granted()).toBe(due.reduce((sum, { micro }) => sum + micro, 0))
        expect(world.ledger.size).toBe(due.length)
        for (const { number, state, granted: at, refunded, minor, note } of rows) {
          if (at !== null) expect([state, paid.has(number)]).toEqual(['paid', true])
          // Paid and never granted: only purchases refunded first, with a note.
          if (state === 'paid' && at === null) expect([refunded, note !== null]).toEqual([minor, true])
        }
      }),
      { numRuns: 40 },
    )
  })
})
