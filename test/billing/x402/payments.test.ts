// The laws of payments, over any order of requests, faults, kills and time: what the chain took is booked once, and nothing
// else is; what was answered was paid; a header serves one request.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANSWERS_MAX, type PaymentOrder, REPEAT_MS } from '../../../src/billing/x402/payment.ts'
import { OPEN_MAX } from '../../../src/billing/x402/payments.ts'
import { BEHAVIORS, type Behavior, orderOf, PaymentWorld, settledIn } from './payment-world.ts'

const NONCES = 3

type Event =
  | { readonly do: 'begin'; readonly nonce: number; readonly digest: string }
  | { readonly do: 'settle' | 'release'; readonly at: number }
  | { readonly do: 'complete'; readonly at: number; readonly how: Behavior }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'turn' | 'kill' | 'land' | 'cancel' | 'submit'; readonly nonce: number }

const nonces = fc.nat(NONCES - 1)
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      nonce: nonces,
      digest: fc.constantFrom('x', 'x', 'x', 'y'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('settle' as const, 'settle' as const, 'release' as const),
      at: fc.nat(5),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      at: fc.nat(3),
      how: fc.constantFrom<Behavior>('honest', 'honest', ...BEHAVIORS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(100, 2_000, 11_000, 61_000, 270_000, 700_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'turn' as const,
        'turn' as const,
        'kill' as const,
        'land' as const,
        'cancel' as const,
        'submit' as const,
      ),
      nonce: nonces,
    }),
  },
)

interface HeldRequest {
  readonly nonce: string
  readonly holder: number
}

class Run {
  readonly world: PaymentWorld
  readonly isTopUp: boolean
  readonly held: HeldRequest[] = []
  readonly digests = new Map<string, string>()
  /** Requests that were told that their payment is settled, by nonce. */
  readonly answered = new Map<string, number>()
  /** Payments with a request whose answer was ready. */
  readonly ready = new Set<string>()

  constructor(hasNode: boolean, isTopUp: boolean) {
    this.world = new PaymentWorld(hasNode)
    this.isTopUp = isTopUp
  }

  async perform(event: Event): Promise<void> {
    const { world } = this
    switch (event.do) {
      case 'begin':
        this.#begin(event.nonce, event.digest)
        break
      case 'settle':
      case 'release': {
        const [request] = this.held.splice(event.at % Math.max(1, this.held.length), 1)
        if (request !== undefined) this.#end(request, event.do)
        break
      }
      case 'complete': {
        const call = world.calls[event.at % Math.max(1, world.calls.length)]
        if (call !== undefined) world.complete(call, event.how)
        break
      }
      case 'advance':
        world.advance(event.ms)
        break
      case 'turn':
        void world.payments.turn()
        break
      case 'kill':
        world.kill()
        break
      case 'land':
        for (const nonce of world.late.splice(0)) world.take(nonce)
        break
      // The wallet cancels its authorization, or somebody else submits it.
      case 'cancel':
      case 'submit':
        world.take(orderOf(event.nonce, '').authorization.nonce, event.do === 'submit')
    }
    await settledIn()
  }

  #begin(n: number, digest: string): void {
    const { world } = this
    const order = orderOf(n, digest, this.isTopUp ? { call: null } : {})
    const { nonce } = order.authorization
    void world.payments.begin(order).then((begun) => {
      if (!begun.ok) return
      const first = this.digests.get(nonce)
      if (first !== undefined && first !== digest) world.faults.push(`${nonce} serves two requests`)
      this.digests.set(nonce, digest)
      this.held.push({ nonce, holder: begun.holder })
    })
  }

  #end({ nonce, holder }: HeldRequest, how: 'settle' | 'release'): void {
    const { world } = this
    if (how === 'release') return world.payments.release(nonce, holder)
    this.ready.add(nonce)
    void world.payments.settle(nonce, holder).then((done) => {
      if (!done.ok) return
      this.answered.set(nonce, (this.answered.get(nonce) ?? 0) + 1)
      if (world.chain.get(nonce)?.pays !== true) world.faults.push(`${nonce} was answered unpaid`)
    })
  }

  /** From now on, everybody is honest and available. */
  async drain(): Promise<void> {
    const { world } = this
    for (const nonce of world.late.splice(0)) world.take(nonce)
    for (let i = 0; i < 400; i++) {
      for (const call of world.calls) world.complete(call, 'honest')
      await settledIn()
      if (world.calls.length > 0) continue
      const waiting = [...world.rows.values()].filter(({ isDone }) => !isDone)
      if (waiting.length === 0) return
      world.advance(Math.max(0, Math.min(...waiting.map(({ dueMs }) => dueMs)) - world.nowMs))
      void world.payments.turn()
      await settledIn()
    }
    world.faults.push('payments stay without an outcome')
  }

  check(): void {
    const { world } = this
    expect(world.faults).toEqual([])
    for (let n = 0; n < NONCES; n++) {
      const { authorization, requirement } = orderOf(n, '')
      const { nonce } = authorization
      const reference = `${requirement.network}:${authorization.from}:${nonce}`
      const isPaid = world.chain.get(nonce)?.pays === true
      const entry = world.books.get(reference)
      const isUnclear = world.unclear.has(reference)
      const facts = { nonce, isPaid, entry, isUnclear, answered: this.answered.get(nonce) ?? 0 }
      // What was booked was paid, and an unclear payment is not booked.
      if (entry !== undefined) expect(facts).toMatchObject({ isPaid: true, isUnclear: false })
      // With a node, each verified payment that the chain took is booked, whoever sent it to the chain. Without one, each
      // that the facilitator was asked for, or the operator knows.
      const isKnown = world.hasNode ? this.digests.has(nonce) : world.requested.has(nonce)
      if (isPaid && isKnown) expect([facts, entry !== undefined || isUnclear]).toEqual([facts, true])
      if (world.hasNode) expect(facts).toMatchObject({ isUnclear: false })
      if (facts.answered > 0) expect(facts.entry).toMatchObject({ call: this.isTopUp ? null : { type: 'l2Book' } })
      // Each answer is counted before it is given.
      expect(facts.answered).toBeLessThanOrEqual(world.rows.get(nonce)?.answers ?? 0)
      expect(facts.answered).toBeLessThanOrEqual(ANSWERS_MAX)
      if (entry?.call) expect([nonce, this.ready.has(nonce)]).toEqual([nonce, true])
    }
  }
}

describe('payments', () => {
  it.each([
    ['with a node', true, false],
    ['without a node', false, false],
    ['for credits, with a node', true, true],
    ['for credits, without a node', false, true],
  ])('keep their laws through faults and kills, %s', async (_, hasNode, isTopUp) => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 60 }), async (events) => {
        const run = new Run(hasNode, isTopUp)
        for (const one of events) await run.perform(one)
        await run.drain()
        run.check()
      }),
      { numRuns: 1_500 },
    )
  })

  /** A world with one order, whose outside calls end as told. */
  async function paid(
    more: Partial<PaymentOrder> = {},
    settle: Behavior = 'honest',
    hasNode = false,
    then: Behavior[] = [],
  ) {
    const world = new PaymentWorld(hasNode)
    const order = orderOf(1, 'x', more)
    const { nonce } = order.authorization
    const end = async (how: Behavior = 'honest') => {
      for (const call of world.calls) world.complete(call, how)
      await settledIn()
    }
    const during = async <T>(work: Promise<T>, ...hows: Behavior[]): Promise<T> => {
      for (const how of hows) {
        await settledIn()
        await end(how)
      }
      return work
    }
    const begin = (how: Behavior = 'honest', of = order) => during(world.payments.begin(of), how)
    const begun = await begin()
    const done = await during(
      world.payments.settle(nonce, 1),
      settle,
      ...(hasNode ? (['honest'] as const) : []),
      ...then,
    )
    return { world, order, nonce, begin, begun, done, during }
  }

  it('answer a repeated header three times in ten minutes, for the same settlement', async () => {
    const { world, nonce, begin, done } = await paid()
    expect(done).toMatchObject({ ok: true, isBooked: false, isFirst: true })
    for (let i = 0; i < 3; i++) {
      expect(await begin()).toEqual({ ok: true, holder: 1 })
      expect(await world.payments.settle(nonce, 1)).toEqual({ ...done, isFirst: false })
    }
    expect(await begin()).toEqual({ ok: false, refusal: { kind: 'used' } })
    expect(world.calls).toEqual([])
  })

  it('do not answer somebody else who repeats the header, because the chain shows it', async () => {
    const { order, begin } = await paid()
    const other = { ...order, caller: '198.51.100.7' }
    expect(await begin('honest', other)).toEqual({ ok: false, refusal: { kind: 'used' } })
    expect(await begin()).toMatchObject({ ok: true })
  })

  it('do not answer a repeated header later', async () => {
    const { world, begin } = await paid()
    world.advance(REPEAT_MS)
    expect(await begin()).toEqual({ ok: false, refusal: { kind: 'used' } })
  })

  it('refuse another request with the same header in every state', async () => {
    const { begin, order } = await paid()
    expect(await begin('honest', { ...order, digest: 'y' })).toEqual({ ok: false, refusal: { kind: 'other_request' } })
  })

  it('serve the request that holds them, and none whose time is over', async () => {
    const world = new PaymentWorld(false)
    const order = orderOf(1, 'x')
    const { nonce } = order.authorization
    const begin = async () => {
      const beginning = world.payments.begin(order)
      await settledIn()
      for (const call of world.calls) world.complete(call, 'honest')
      return beginning
    }
    expect(await begin()).toEqual({ ok: true, holder: 1 })
    world.advance(61_000)
    expect(await begin()).toEqual({ ok: true, holder: 2 })
    const busy = { ok: false, refusal: { kind: 'busy' } }
    expect(await world.payments.settle(nonce, 1)).toEqual(busy)
    world.payments.release(nonce, 1)
    expect(await begin()).toEqual(busy)
    const settling = world.payments.settle(nonce, 2)
    await settledIn()
    for (const call of world.calls) world.complete(call, 'honest')
    expect(await settling).toMatchObject({ ok: true })
    expect(await world.payments.settle(nonce, 1)).toEqual(busy)
  })

  it('have one step in progress, and keep what requests change during it', async () => {
    const { world, nonce, begin } = await paid()
    const turns = [world.payments.turn(), world.payments.turn()]
    await settledIn()
    expect(world.calls.map(({ kind }) => kind)).toEqual(['book'])
    const [booking] = world.calls
    world.calls = []
    expect(await begin()).toMatchObject({ ok: true })
    booking?.end('honest')
    await Promise.all(turns)
    expect(world.rows.get(nonce)).toMatchObject({ isDone: true, answers: 2 })
  })

  it('answer late if the settlement was late, and charge then', async () => {
    const { world, nonce, begin, done, during } = await paid({}, 'fail-after', true)
    expect(done).toEqual({ ok: false, refusal: { kind: 'pending' } })
    expect(await begin()).toEqual({ ok: false, refusal: { kind: 'pending', retryMs: 1_800 } })
    world.advance(1_800)
    await during(world.payments.turn(), 'honest')
    expect(world.rows.get(nonce)).toMatchObject({ state: 'settled', answers: 0 })
    expect(await begin()).toEqual({ ok: true, holder: 2 })
    expect(await world.payments.settle(nonce, 2)).toMatchObject({ ok: true })
    await during(world.payments.turn(), 'honest')
    expect([...world.books.values()]).toMatchObject([{ call: { type: 'l2Book' } }])
  })

  it('become credits once, if nobody asks for the answer, even if the books fail after they were written', async () => {
    const { world, nonce, begin, during } = await paid({}, 'fail-after', true)
    world.advance(1_800)
    await during(world.payments.turn(), 'honest')
    world.advance(REPEAT_MS)
    await during(world.payments.turn(), 'fail-after')
    expect(await begin()).toEqual({ ok: false, refusal: { kind: 'credited' } })
    expect(await world.payments.settle(nonce, 1)).toEqual({ ok: false, refusal: { kind: 'credited' } })
    expect([...world.books.values()]).toMatchObject([{ call: null }])
  })

  it('are booked before the buyer of credits is answered, who may repeat the request', async () => {
    const { world, nonce, begin, done } = await paid({ call: null }, 'honest', false, ['honest'])
    expect(done).toMatchObject({ ok: true, isBooked: true })
    expect([...world.books.values()]).toMatchObject([{ call: null, micro: 5_000_000 }])
    expect(await begin()).toMatchObject({ ok: true })
    expect(await world.payments.settle(nonce, 1)).toMatchObject({ ok: true, isBooked: true, isFirst: false })
  })

  it('are left to the operator if the nonce was used and no node can be asked', async () => {
    const { world, begin, during, done } = await paid({}, 'fail-after')
    expect(done).toMatchObject({ refusal: { kind: 'pending' } })
    world.advance(1_800)
    await during(world.payments.turn(), 'honest')
    expect(await begin()).toEqual({ ok: false, refusal: { kind: 'unclear' } })
    await during(world.payments.turn(), 'fail')
    world.advance(60_000)
    await during(world.payments.turn(), 'honest')
    expect([world.unclear.size, world.books.size]).toEqual([1, 0])
  })

  it('are bounded in number while they have no outcome', async () => {
    const world = new PaymentWorld(false)
    const all = Array.from({ length: 1_000 }, (_, i) => orderOf(i, 'x'))
    const begun = []
    for (const order of all) {
      const beginning = world.payments.begin(order)
      await settledIn()
      for (const call of world.calls) world.complete(call, 'honest')
      begun.push(await beginning)
    }
    expect(begun.filter(({ ok }) => ok)).toHaveLength(OPEN_MAX)
    expect(begun.at(-1)).toEqual({ ok: false, refusal: { kind: 'too_many' } })
    world.advance(600_000)
    for (let i = 0; i < OPEN_MAX; i++) await world.payments.turn()
    expect(world.rows.size).toBe(0)
  })
})
