// Laws of automatic top-ups, on the real store, the real Stripe client, and a stand-in of Stripe. The gateway stops between
// any two steps, answers are lost, events repeat and are late, and several callers ask at once.

import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { monthStart, settingsFrom } from '../../../src/billing/checkout/auto-top-up.ts'
import { CheckoutService } from '../../../src/billing/checkout/checkout-service.client.ts'
import { CheckoutPrices } from '../../../src/billing/checkout/prices.ts'
import { stripe } from '../../../src/billing/checkout/stripe/stripe.client.ts'
import { stripeRoutes } from '../../../src/billing/checkout/stripe/stripe.route.ts'
import { stripeCards } from '../../../src/billing/checkout/stripe/stripe-cards.client.ts'
import { STRIPE_API } from '../../../src/billing/checkout/stripe/stripe-http.client.ts'
import type { StoppedTopUp } from '../../../src/metering/top-up-watch.ts'
import { SqliteD1 } from '../../kit/sqlite-d1.ts'
import { type CardMood, SECRET_KEY, StripeStub, signed, WEBHOOK_SECRET } from './stripe-stub.ts'

const ACCOUNT = 'acme'
const DAY_MS = 86_400_000
/** A few days before the end of a month. */
const START_MS = Date.UTC(2026, 10, 27)
const PRICE = 100
const LIMIT = 250
const ports = { secretKey: SECRET_KEY, apiUrl: STRIPE_API, publicUrl: 'https://w.example' }

class World {
  readonly stub = new StripeStub()
  nowMs = START_MS
  minor = PRICE
  /** Steps until the gateway stops, and whether the last one takes effect; null: it does not stop. */
  fuse: { left: number; readonly isDone: boolean } | null = null
  isDead = false
  isLossy = false
  /** The owner was told that it is off. */
  isOff = true
  /** What the owner may have agreed to last; two terms if the answer to the last change was lost. */
  agreed: { readonly minor: number; readonly limit: number }[] = []
  readonly violations: string[] = []
  readonly granted = new Map<string, number>()
  readonly told: StoppedTopUp[] = []
  readonly watches: number[] = []
  readonly reports: string[] = []
  readonly db = new SqliteD1('accounts', { before: () => this.#step('before'), after: () => this.#step('after') })
  readonly checkout = this.#service()
  readonly app = stripeRoutes({
    events: { handle: (event) => this.#service().handle(event) },
    webhookSecret: WEBHOOK_SECRET,
    requestId: () => 'req_1',
    now: () => this.nowMs,
  })

  constructor() {
    this.db.sqlite.exec(`INSERT INTO accounts VALUES ('${ACCOUNT}', 'entry', 1, NULL)`)
    this.app.onError(() => new Response(null, { status: 500 }))
    vi.stubGlobal('fetch', (url: string, init: RequestInit & { body?: string }) => this.#fetch(url, init))
  }

  #service(): CheckoutService {
    return new CheckoutService({
      db: this.db as unknown as D1Database,
      prices: this.prices,
      terms: null,
      provider: stripe(ports),
      cards: stripeCards(ports),
      nowMs: () => this.nowMs,
      report: (error) => this.reports.push(String(error)),
      grant: async (account, id, micro) => {
        this.#step('before')
        expect(account).toBe(ACCOUNT)
        this.granted.set(id, micro)
        this.#step('after')
        return { ok: true, value: null }
      },
      meterOf: () => ({
        watchTopUp: async (watch) => {
          this.#step('before')
          this.watches.push(watch.below)
        },
        topUpStopped: async (_, stop) => {
          this.#step('before')
          if (!this.told.some(({ atMs }) => atMs === stop.atMs)) this.told.push(stop)
          this.#step('after')
        },
      }),
    })
  }

  get prices(): CheckoutPrices {
    return CheckoutPrices.parse({ currency: 'eur', packages: [{ name: 'small', credits: 100, minor: this.minor }] })
  }

  #step(when: 'before' | 'after'): void {
    if (this.isDead) throw new Error('the gateway is stopped')
    if (this.fuse === null || (when === 'after') !== this.fuse.isDone) return
    if (this.fuse.left-- > 0) return
    this.isDead = true
    throw new Error('the gateway stops')
  }

  async #fetch(url: string, init: RequestInit & { body?: string }): Promise<Response> {
    this.#step('before')
    const { origin, pathname, search } = new URL(url)
    expect(origin).toBe(STRIPE_API)
    this.stub.nowMs = this.nowMs
    const charges = this.stub.intents.size
    const answer = this.stub.answer(init.method!, pathname + search, new Headers(init.headers), init.body ?? '')
    if (this.stub.intents.size > charges) this.#judge()
    this.#step('after')
    if (this.isLossy) throw new Error('the answer is lost')
    return Response.json(answer[1], { status: answer[0] })
  }

  /** A charge was made. */
  #judge(): void {
    const all = [...this.stub.intents.values()]
    const made = all.at(-1)!
    if (this.isOff) this.violations.push('charged although it was off')
    const month = monthStart(this.nowMs) / 1000
    const inMonth = all.filter(({ status, created }) => created >= month && /^(succeeded|processing)$/.test(status))
    const charged = inMonth.reduce((sum, { amount }) => sum + amount, 0)
    const isAgreed = this.agreed.some(({ minor, limit }) => minor === made.amount && charged <= limit)
    if (!isAgreed) this.violations.push('charged what the owner did not agree to')
    if (all.some((one) => one !== made && one.metadata.order === made.metadata.order))
      this.violations.push('charged an order twice')
    const failed = all.filter(({ last_payment_error: error }) => error !== null)
    if (
      failed.some(
        (one) =>
          one !== made && one.payment_method === made.payment_method && made.created - one.created < DAY_MS / 1000,
      )
    )
      this.violations.push('charged within a day of a failure')
  }

  /** Runs what may stop halfway; true: it ended. */
  async attempt(work: (service: CheckoutService) => Promise<unknown>): Promise<boolean> {
    try {
      await work(this.#service())
      return !this.isDead
    } catch (error) {
      if (!this.isDead && !this.isLossy) throw error
      return false
    } finally {
      this.isDead = false
      this.fuse = null
    }
  }

  advance(isLow: boolean): Promise<boolean> {
    return this.attempt(({ autoTopUps }) => autoTopUps!.advance(ACCOUNT, isLow))
  }

  async turnOn(limit = LIMIT): Promise<void> {
    this.isOff = false
    const before = this.agreed
    const terms = { minor: this.minor, limit }
    this.agreed = [...before, terms]
    await this.attempt(async ({ autoTopUps }) => {
      const monthly = (limit / 100).toFixed(2)
      const on = await autoTopUps!.turnOn(ACCOUNT, { below: 50_000_000, package: 'small', monthly }, null)
      if (!on.ok) expect(['conflict', 'limit_reached']).toContain(on.error.kind)
      this.agreed = on.ok ? [terms] : before
    })
  }

  /** The owner saves a card, and Stripe tells the gateway. */
  async saveCard(mood: CardMood): Promise<void> {
    let session = ''
    await this.attempt(async ({ autoTopUps }) => {
      const page = await autoTopUps!.openSetup(ACCOUNT)
      session = page.ok ? page.value.split('/').at(-1)! : ''
    })
    if (session === '') return
    this.stub.saveCard(session, mood)
    await this.post(this.stub.setupEvent(session, ACCOUNT))
  }

  async post(body: string): Promise<void> {
    const headers = { 'stripe-signature': await signed(body, Math.floor(this.nowMs / 1000)) }
    await this.attempt(async () => {
      const answer = await this.app.request('/checkout/stripe', { method: 'POST', body, headers })
      if (answer.status !== 200 && !this.isDead && !this.isLossy) throw new Error(`status ${answer.status}`)
    })
  }

  orders() {
    return this.db.sqlite.prepare('SELECT * FROM orders WHERE mandate IS NOT NULL ORDER BY seq').all() as unknown as {
      number: string
      state: string
      paid: number | null
      granted: number | null
      note: string | null
    }[]
  }

  paidIntents() {
    return [...this.stub.intents.values()].filter(({ status }) => status === 'succeeded')
  }

  check(): void {
    expect(this.violations).toEqual([])
    const orders = this.orders()
    expect(orders.filter(({ state }) => state === 'open').length).toBeLessThanOrEqual(1)
    for (const months of [0, 1, 2]) {
      const [from, to] = [months, months + 1].map((each) => monthStart(START_MS, each) / 1000)
      const charged = this.paidIntents().filter(({ created }) => created >= from! && created < to!)
      expect(charged.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(LIMIT)
    }
    const paid = new Set(this.paidIntents().map(({ metadata }) => metadata.order))
    for (const number of this.granted.keys()) expect(paid).toContain(number)
  }

  /** Nothing stops any more; every charge has an outcome. */
  async settle(): Promise<void> {
    this.isLossy = false
    for (const id of this.stub.intents.keys()) this.stub.finish(id, true)
    for (let i = 0; i < 4; i++) {
      this.nowMs += 13 * 3_600_000
      await this.advance(false)
    }
  }
}

let world: World
beforeEach(() => {
  world = new World()
})
afterEach(() => vi.unstubAllGlobals())

const STEP = fc.record({
  what: fc.constantFrom(
    ...([
      'low',
      'low',
      'low',
      'low',
      'event',
      'finish',
      'on',
      'on',
      'off',
      'card',
      'remove',
      'gone',
      'mood',
      'time',
    ] as const),
    ...(['time', 'price', 'crowd'] as const),
  ),
  number: fc.nat(100),
  /** Steps before it stops. */
  kill: fc.option(fc.nat(12), { freq: 3 }),
  isDone: fc.boolean(),
  isLossy: fc.boolean().map((each) => each),
})
const MOODS: readonly CardMood[] = ['good', 'slow', 'declined', 'authentication_required']
const WAITS = [1_000, 61_000, 3_600_000, 13 * 3_600_000, DAY_MS, 4 * DAY_MS]

async function play({ what, number, kill, isDone, isLossy }: typeof STEP extends fc.Arbitrary<infer T> ? T : never) {
  const { stub } = world
  const card = [...stub.cards.values()].at(-1)
  const intent = [...stub.intents.keys()].at(-1)
  if (what === 'time') world.nowMs += WAITS[number % WAITS.length]!
  if (what === 'mood' && card) card.mood = MOODS[number % MOODS.length]!
  if (what === 'finish' && intent) stub.finish(intent, number % 2 === 0)
  if (what === 'price') world.minor = number % 3 === 0 ? PRICE + 1 : PRICE
  world.fuse = kill === null ? null : { left: kill, isDone }
  world.isLossy = isLossy && number % 4 === 0
  if (what === 'low') await world.advance(number % 5 !== 0)
  if (what === 'on') {
    world.minor = number % 3 === 0 ? PRICE + 1 : PRICE
    await world.turnOn(number % 4 === 0 ? LIMIT - PRICE : LIMIT)
  }
  if (what === 'off' && (await world.attempt(({ autoTopUps }) => autoTopUps!.turnOff(ACCOUNT, null))))
    world.isOff = true
  if (what === 'card') await world.saveCard(MOODS[number % MOODS.length]!)
  if (what === 'event' && intent) await world.post(stub.intentEvent(intent))
  if (what === 'remove') {
    let isRemoved = false
    await world.attempt(async ({ autoTopUps }) => {
      isRemoved = (await autoTopUps!.removeCard(ACCOUNT, null)).ok
    })
    if (isRemoved) world.isOff = true
  }
  if (what === 'gone' && card) {
    card.isAttached = false
    await world.post(stub.detachedEvent(card.id))
  }
  if (what === 'crowd') await crowd(number % 3 === 0 ? null : number % 31)
  world.fuse = null
  world.isLossy = false
  world.check()
}

/** Several callers at once, and perhaps the owner who turns it off. No order begins after that. */
async function crowd(turnsUntilOff: number | null): Promise<void> {
  let orders = Number.POSITIVE_INFINITY
  await world.attempt(({ autoTopUps }) => {
    const callers = [0, 1, 2].map(() => autoTopUps!.advance(ACCOUNT, true).catch(() => null))
    const off = async () => {
      if (turnsUntilOff === null) return
      for (let turn = 0; turn < turnsUntilOff; turn++) await Promise.resolve()
      await autoTopUps!.turnOff(ACCOUNT, null)
      orders = world.orders().length
    }
    return Promise.all([...callers, off().catch(() => null)])
  })
  expect(world.orders().length).toBeLessThanOrEqual(orders)
  if (Number.isFinite(orders)) world.isOff = true
}

describe('whatever happens', () => {
  it('charges nothing twice, nothing beyond the limit, nothing unwanted, and grants what was charged', async () => {
    const outcomes = { granted: 0, failed: 0, dropped: 0, stopped: 0, full: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 40 }), async (steps) => {
        vi.unstubAllGlobals()
        world = new World()
        await world.saveCard('good')
        await world.turnOn()
        for (const step of steps) await play(step)
        await world.settle()
        world.check()
        for (const { metadata } of world.paidIntents()) expect([...world.granted.keys()]).toContain(metadata.order)
        const orders = world.orders()
        expect(orders.filter(({ state }) => state === 'open')).toEqual([])
        for (const { state, granted } of orders) expect(granted !== null).toBe(state === 'paid')
        const current = await world.checkout.autoTopUps!.view(ACCOUNT)
        expect(current.current?.isTold).toBe(true)
        outcomes.granted += world.granted.size
        outcomes.failed += orders.filter(({ state }) => state === 'failed').length
        outcomes.dropped += orders.filter(({ state }) => state === 'void').length
        outcomes.stopped += world.told.length
        if (current.charged > LIMIT - PRICE) outcomes.full++
      }),
      { numRuns: 120 },
    )
    // The histories must reach every outcome.
    for (const [name, count] of Object.entries(outcomes)) expect([name, count > 2]).toEqual([name, true])
  })
})

describe('an automatic top-up', () => {
  const stateOf = async () => (await world.checkout.autoTopUps!.view(ACCOUNT)).current!

  it('charges the saved card, grants the credits and stops at the limit of the month', async () => {
    await world.saveCard('good')
    await world.turnOn()
    expect(world.watches).toEqual([50_000_000])
    for (let i = 0; i < 5; i++) await world.advance(true)
    expect([world.paidIntents().length, [...world.granted.values()]]).toEqual([2, [100_000_000, 100_000_000]])
    const answer = await world.checkout.autoTopUps!.advance(ACCOUNT, true)
    expect(answer).toEqual({ state: 'wait', ms: monthStart(START_MS, 1) - START_MS })
    world.nowMs = monthStart(START_MS, 1)
    await world.advance(true)
    expect(world.paidIntents()).toHaveLength(3)
    expect(await world.checkout.autoTopUps!.view(ACCOUNT)).toMatchObject({ charged: PRICE, order: null })
  })

  it.each([
    ['declined', 'declined'],
    ['authentication_required', 'authentication_required'],
  ] as const)(
    'stops when the card is %s, tells the owner, and tries again after a day at most',
    async (mood, reason) => {
      await world.saveCard(mood)
      await world.turnOn()
      await world.advance(true)
      const [order] = world.orders()
      expect(order).toMatchObject({ state: 'failed', granted: null })
      expect(world.told).toEqual([{ reason, atMs: START_MS, order: order!.number }])
      expect([...world.stub.intents.values()].map(({ status }) => status)).toEqual(['canceled'])
      expect(await stateOf()).toMatchObject({ state: 'stopped', isTold: true })
      expect(await world.checkout.autoTopUps!.advance(ACCOUNT, true)).toEqual({ state: 'off' })
      await world.turnOn()
      expect(await world.checkout.autoTopUps!.advance(ACCOUNT, true)).toEqual({ state: 'wait', ms: DAY_MS })
      // A new card does not wait for the failure of the old one, so the meter is told.
      const watched = world.watches.length
      await world.saveCard('good')
      expect(world.watches).toHaveLength(watched + 1)
      await world.advance(true)
      expect(world.paidIntents()).toHaveLength(1)
    },
  )

  it('stops at once when the card is removed, by the owner or at Stripe', async () => {
    await world.saveCard('good')
    await world.turnOn()
    expect(await world.checkout.autoTopUps!.removeCard(ACCOUNT, null)).toEqual({ ok: true, value: undefined })
    expect([...world.stub.cards.values()].map(({ isAttached }) => isAttached)).toEqual([false])
    expect(await world.checkout.autoTopUps!.advance(ACCOUNT, true)).toEqual({ state: 'off' })
    expect(world.told).toEqual([])
    await world.saveCard('good')
    await world.turnOn()
    const card = [...world.stub.cards.values()].at(-1)!
    card.isAttached = false
    await world.post(world.stub.detachedEvent(card.id))
    expect(await stateOf()).toMatchObject({ state: 'stopped', card: null, stop: { reason: 'card_removed' } })
    expect(world.told).toHaveLength(1)
    expect(world.stub.intents.size).toBe(0)
  })

  it('uses the card that was saved last, on any page of the account, and detaches the one before', async () => {
    const { stub } = world
    const open = async () => {
      const page = await stripeCards(ports).openSetup(ACCOUNT)
      if (!page.ok) throw new Error(page.error)
      await world.db
        .prepare("INSERT OR IGNORE INTO auto_top_ups (account, state) VALUES (?, 'off')")
        .bind(ACCOUNT)
        .run()
      return page.value.session
    }
    const complete = (session: string) => {
      world.nowMs += 2_000
      stub.nowMs = world.nowMs
      const { id } = stub.saveCard(session)
      return { id, event: stub.setupEvent(session, ACCOUNT) }
    }
    const saved = async () => [
      (await stateOf()).card?.method ?? null,
      [...stub.cards.values()].filter(({ isAttached }) => isAttached).map(({ id }) => id),
    ]
    const first = await open()
    const second = await open()
    const one = complete(first)
    await world.post(one.event)
    expect(await saved()).toEqual([one.id, [one.id]])
    const two = complete(second)
    await world.post(two.event)
    expect(await saved()).toEqual([two.id, [two.id]])
    // The same event under another id, as if its record were lost.
    await world.post(one.event.replace(/evt_/, 'evt_again'))
    expect(await saved()).toEqual([two.id, [two.id]])
    // Events that are late and reversed.
    const third = complete(await open())
    const fourth = complete(await open())
    await world.post(fourth.event)
    await world.post(third.event)
    expect((await saved())[0]).toBe(fourth.id)
    // Not a page of this account.
    const other = complete(await open())
    stub.setups.set([...stub.saved.keys()].at(-1)!, 'other')
    await world.post(other.event)
    expect((await saved())[0]).toBe(fourth.id)
    expect((await world.checkout.autoTopUps!.view(ACCOUNT)).changes).toHaveLength(3)
  })

  it('needs a card, is not charged at another price, and has a record of its changes', async () => {
    const on = (monthly: string) =>
      world.checkout.autoTopUps!.turnOn(ACCOUNT, { below: 1, package: 'small', monthly }, null)
    expect(await on('2.50')).toMatchObject({ error: { kind: 'conflict' } })
    await world.saveCard('good')
    for (const [monthly, part] of [
      ['0.99', 'at least the price'],
      ['2.505', 'an amount in eur'],
      ['much', 'an amount in eur'],
    ] as const)
      expect(JSON.stringify(await on(monthly))).toContain(part)
    await world.turnOn()
    world.minor = PRICE + 1
    await world.advance(true)
    expect(await stateOf()).toMatchObject({ state: 'stopped', stop: { reason: 'price_changed', order: null } })
    const { changes } = await world.checkout.autoTopUps!.view(ACCOUNT)
    expect(changes.map(({ what }) => what)).toEqual(['stopped', 'on', 'card_saved'])
    expect(settingsFrom({ below: 1, package: 'none', monthly: '1' }, world.prices, null).ok).toBe(false)
  })

  it('is limited to twenty changes of its settings a day', async () => {
    await world.saveCard('good')
    const on = () => world.checkout.autoTopUps!.turnOn(ACCOUNT, { below: 1, package: 'small', monthly: '3' }, null)
    for (let i = 0; i < 20; i++) expect((await on()).ok).toBe(true)
    expect(await on()).toMatchObject({ error: { kind: 'limit_reached' } })
    world.nowMs += DAY_MS + 1
    expect((await on()).ok).toBe(true)
  })

  it('does not buy again for a balance that was read before its credits', async () => {
    await world.saveCard('slow')
    await world.turnOn()
    await world.advance(true)
    world.stub.finish([...world.stub.intents.keys()][0]!, true)
    expect(await world.checkout.autoTopUps!.advance(ACCOUNT, true)).toEqual({ state: 'idle' })
    expect([world.granted.size, world.orders().length]).toEqual([1, 1])
  })

  it('charges an order under the terms that the owner agreed to last, wherever the gateway stopped before', async () => {
    let dropped = 0
    for (const [minor, limit] of [
      [PRICE, PRICE],
      [PRICE + 1, LIMIT],
    ] as const)
      for (let left = 0; left < 8; left++) {
        vi.unstubAllGlobals()
        world = new World()
        await world.saveCard('good')
        await world.turnOn()
        await world.advance(true)
        world.fuse = { left, isDone: true }
        await world.advance(true)
        const charges = world.stub.intents.size
        world.minor = minor
        await world.turnOn(limit)
        await world.advance(false)
        expect([world.stub.intents.size, world.violations]).toEqual([charges, []])
        await world.settle()
        dropped += world.orders().filter(({ state }) => state === 'void').length
        world.check()
      }
    expect(dropped).toBeGreaterThan(2)
  })

  it('cannot be voided while the card may be charged, which is known after a day', async () => {
    await world.saveCard('slow')
    await world.turnOn()
    await world.advance(true)
    const { number } = world.orders()[0]!
    const voided = () => world.checkout.void(number)
    expect(await voided()).toMatchObject({ error: { message: expect.stringContaining('within a day') } })
    world.nowMs += DAY_MS
    expect(await voided()).toMatchObject({ error: { message: expect.stringContaining('in progress') } })
    world.stub.finish([...world.stub.intents.keys()][0]!, false)
    expect(await voided()).toMatchObject({ value: { state: 'void' } })
    expect([...world.stub.intents.values()].map(({ status }) => status)).toEqual(['canceled'])
  })

  it('whose charge Stripe no longer knows is dropped and reported, and another one follows', async () => {
    await world.saveCard('slow')
    await world.turnOn()
    await world.advance(true)
    const reference = [...world.stub.intents.keys()][0]!
    world.stub.intents.clear()
    world.nowMs += 61_000
    await world.advance(true)
    expect(world.orders()).toMatchObject([{ state: 'void', note: 'not charged' }])
    expect(world.reports).toEqual([expect.stringContaining(`no charge ${reference}`)])
    ;[...world.stub.cards.values()].at(-1)!.mood = 'good'
    await world.advance(true)
    expect(world.granted.size).toBe(1)
  })
})
