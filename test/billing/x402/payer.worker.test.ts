// Payers in workerd, with a facilitator and a node that answer as told: requests at the same time, alarms, evictions and
// kills between any two calls. test/billing/x402/payments.test.ts tests the rules.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { TOPICS } from '../../../src/billing/x402/chain.client.ts'
import { type PayerApi, PAYER_API_VERSION as v } from '../../../src/billing/x402/payer-api.ts'
import { nonceOf, type Payment, type PaymentOrder } from '../../../src/billing/x402/payment.ts'
import { orderOf } from './payment-world.ts'

const { PAYER: payers, GATEWAY: gateway } = env as unknown as Cloudflare.Env
const booked = (order: PaymentOrder) =>
  (gateway as unknown as { booked(reference: string): Promise<unknown[]> }).booked(
    `${nameOf(order)}:${order.authorization.nonce}`,
  )
const nameOf = ({ requirement, authorization }: PaymentOrder) => `${requirement.network}:${authorization.from}`
const stubOf = (order: PaymentOrder) => payers.getByName(nameOf(order))
const payerOf = (order: PaymentOrder) => stubOf(order) as unknown as PayerApi
const TRANSACTION = `0x${'f'.repeat(64)}`

/** Of a wallet of its own. Network 2 has a node. */
let wallets = 0
function newOrder(network: 1 | 2, more: Partial<PaymentOrder> = {}): PaymentOrder {
  const order = orderOf(1, 'x', more, Date.now())
  const from = `0x${String(++wallets).padStart(40, '0')}`
  const { authorization, requirement } = order
  const validBefore = String(Math.floor(Number(authorization.validBefore)))
  return {
    ...order,
    requirement: { ...requirement, network: `eip155:${network}` },
    authorization: { ...authorization, from, validBefore },
  }
}

interface Script {
  verify: () => unknown
  settle: () => unknown
  /** Taken by the chain. */
  isPaid: boolean
  readonly calls: string[]
}
const scripts = new Map<string, Script>()
function scriptOf(order: PaymentOrder, more: Partial<Script> = {}): Script {
  const success = { success: true, transaction: TRANSACTION, network: order.requirement.network }
  const script = { verify: () => ({ isValid: true }), settle: () => success, isPaid: false, calls: [], ...more }
  scripts.set(order.authorization.from, script)
  return script
}

const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

/** Logs of used nonces, by transaction. */
const uses = new Map<string, object>()

function nodeAnswer(method: string, params: readonly { topics?: readonly string[] }[]): unknown {
  if (method === 'eth_blockNumber') return '0x64'
  const order = orderOf(1, 'x')
  const address = order.requirement.asset
  if (method === 'eth_getLogs') {
    const [, payer = '', nonce = ''] = params[0]?.topics ?? []
    const script = scripts.get(`0x${payer.slice(26)}`)
    if (!script?.isPaid) return []
    const transactionHash = padded(`0x${payer.slice(26)}`)
    const use = { address, topics: [TOPICS.used, payer, nonce], data: '0x', transactionHash }
    uses.set(transactionHash, use)
    return [use]
  }
  if (method === 'eth_call') return '0x0'
  const [hash = ''] = params as unknown as string[]
  const topics = [TOPICS.transfer, hash, padded(order.requirement.payTo)]
  return { status: '0x1', logs: [uses.get(hash), { address, topics, data: '0x1388', transactionHash: hash }] }
}

// For the whole file: nothing here may reach a network.
vi.stubGlobal('fetch', async (input: string, init: { body: string; redirect: string; signal: AbortSignal }) => {
  expect([init.redirect, init.signal]).toEqual(['manual', expect.any(AbortSignal)])
  const body = JSON.parse(init.body)
  const { hostname, pathname } = new URL(input)
  if (hostname === 'node.example') return Response.json({ result: nodeAnswer(body.method, body.params) })
  const call = pathname.slice(1) as 'verify' | 'settle'
  const script = scripts.get(body.paymentPayload.payload.authorization.from)!
  script.calls.push(call)
  const answer = await script[call]()
  return answer instanceof Response ? answer : Response.json(answer)
})

const rowsOf = (order: PaymentOrder) =>
  runInDurableObject(stubOf(order), (_, { storage }) =>
    storage.sql
      .exec<{ payment: string }>('SELECT payment FROM payments')
      .toArray()
      .map(({ payment }) => JSON.parse(payment) as Payment),
  )
/** Makes the next steps due, and performs them. */
async function ring(order: PaymentOrder): Promise<void> {
  await runInDurableObject(stubOf(order), (_, { storage }) => {
    storage.sql.exec("UPDATE payments SET due = 1, payment = json_set(payment, '$.dueMs', 1)")
  })
  await runDurableObjectAlarm(stubOf(order))
}
const kill = (order: PaymentOrder) =>
  runInDurableObject(stubOf(order), (_, state) => state.abort('killed')).catch(() => undefined)
const endOf = (order: PaymentOrder, holder = 1) => ({ v, nonce: order.authorization.nonce, holder })

describe('Payer', () => {
  it('takes a payment once, books it with its call by an alarm, and answers it again after an eviction', async () => {
    const order = newOrder(1)
    const script = scriptOf(order)
    expect(await payerOf(order).begin({ v, order })).toEqual({ ok: true, holder: 1 })
    const done = { ok: true, transaction: TRANSACTION, isBooked: false, isFirst: true }
    expect(await payerOf(order).settle(endOf(order))).toEqual(done)
    await vi.waitFor(async () =>
      expect(await booked(order)).toMatchObject([{ call: order.call, transaction: TRANSACTION }]),
    )
    await evictDurableObject(stubOf(order))
    expect(await payerOf(order).begin({ v, order })).toEqual({ ok: true, holder: 1 })
    expect(await payerOf(order).settle(endOf(order))).toEqual({ ...done, isBooked: true, isFirst: false })
    expect(script.calls).toEqual(['verify', 'settle'])
    expect(await runInDurableObject(stubOf(order), (_, { storage }) => storage.getAlarm())).toBeGreaterThan(
      Date.now() + 7e9,
    )
  })

  it('gives a header to one of several requests at a time, and to none for another request', async () => {
    const order = newOrder(1)
    const script = scriptOf(order)
    const orders = [order, order, { ...order, digest: 'y' }, order]
    const begun = await Promise.all(orders.map((one) => payerOf(order).begin({ v, order: one })))
    expect(begun.filter(({ ok }) => ok)).toHaveLength(1)
    const refusals = begun.flatMap((one) => (one.ok ? [] : [one.refusal.kind])).sort()
    expect(refusals).toEqual(['busy', 'busy', 'other_request'])
    await payerOf(order).release(endOf(order))
    expect(await payerOf(order).begin({ v, order })).toEqual({ ok: true, holder: 2 })
    expect(script.calls).not.toContain('settle')
  })

  it('books a payment again after the books failed, and only under one reference', async () => {
    const order = newOrder(1, { call: { product: 'info', type: 'flaky' } })
    scriptOf(order)
    await payerOf(order).begin({ v, order })
    await payerOf(order).settle(endOf(order))
    await vi.waitFor(async () => expect(await booked(order)).toHaveLength(1))
    await ring(order)
    const entries = await booked(order)
    expect([entries.length, new Set(entries.map((one) => JSON.stringify(one))).size]).toEqual([2, 1])
    expect(await rowsOf(order)).toMatchObject([{ isDone: true, booking: 'call' }])
  })

  it('grants credits before it answers their buyer', async () => {
    const order = newOrder(1, { call: null })
    scriptOf(order)
    await payerOf(order).begin({ v, order })
    expect(await payerOf(order).settle(endOf(order))).toMatchObject({ ok: true, isBooked: true })
    expect(await booked(order)).toMatchObject([{ call: null, micro: order.micro }])
  })

  it.each([
    [
      'a redirect',
      () => new Response(null, { status: 307, headers: { location: 'https://elsewhere.example/settle' } }),
    ],
    ['a server error', () => new Response('{"success":false,"errorReason":"x"}', { status: 500 })],
    ['too many requests', () => new Response('{"success":false,"errorReason":"x"}', { status: 429 })],
    ['another form', () => ({ ok: true })],
    ['no JSON', () => new Response('<html>')],
    ['10 MB', () => new Response(`{"success":true,"transaction":"${TRANSACTION}","x":"${'x'.repeat(10_000_000)}"}`)],
    ['no transaction', () => ({ success: true, transaction: '' })],
    ['a pending transaction', () => ({ success: false, errorReason: 'settlement_pending', transaction: TRANSACTION })],
    ['an aborted connection', () => Promise.reject(new DOMException('late', 'TimeoutError'))],
  ])('does not know whether it was paid after %s, and finds out on the chain', async (_, settle) => {
    const order = newOrder(2)
    const script = scriptOf(order, { settle })
    await payerOf(order).begin({ v, order })
    const pending = { ok: false, refusal: { kind: 'pending' } }
    expect(await payerOf(order).settle(endOf(order))).toEqual(pending)
    expect(await payerOf(order).begin({ v, order })).toMatchObject(pending)
    script.isPaid = true
    await ring(order)
    expect(await rowsOf(order)).toMatchObject([{ state: 'settled', answers: 0 }])
    expect(await payerOf(order).begin({ v, order })).toMatchObject({ ok: true, holder: 2 })
    expect(await payerOf(order).settle(endOf(order, 2))).toMatchObject({ ok: true })
    await vi.waitFor(async () => expect(await booked(order)).toMatchObject([{ call: order.call }]))
    expect(script.calls).toEqual(['verify', 'settle'])
  })

  it('does not believe a success that the chain does not show', async () => {
    const order = newOrder(2)
    scriptOf(order)
    await payerOf(order).begin({ v, order })
    expect(await payerOf(order).settle(endOf(order))).toMatchObject({ ok: false, refusal: { kind: 'pending' } })
    expect(await booked(order)).toEqual([])
  })

  it('refuses a payment whose balance is gone after the answer, and finds out if that was a lie', async () => {
    const order = newOrder(1)
    const script = scriptOf(order, {
      settle: () => ({ success: false, errorReason: 'insufficient_balance', transaction: '' }),
    })
    await payerOf(order).begin({ v, order })
    const failed = { ok: false, refusal: { kind: 'failed', why: 'insufficient_balance' } }
    expect(await payerOf(order).settle(endOf(order))).toEqual(failed)
    expect(await payerOf(order).begin({ v, order })).toEqual(failed)
    script.verify = () => ({ isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' })
    await ring(order)
    await ring(order)
    expect(await booked(order)).toMatchObject([{ note: expect.stringMatching(/nonce was used/) }])
    expect(await payerOf(order).begin({ v, order })).toMatchObject({ refusal: { kind: 'unclear' } })
  })

  it('asks again after it was killed while the facilitator was silent', async () => {
    const order = newOrder(1)
    const script = scriptOf(order, { settle: () => new Promise(() => {}) })
    await payerOf(order).begin({ v, order })
    const settling = payerOf(order)
      .settle(endOf(order))
      .catch(() => 'lost')
    await vi.waitFor(() => expect(script.calls).toEqual(['verify', 'settle']))
    await kill(order)
    expect(await settling).toBe('lost')
    expect(await payerOf(order).begin({ v, order })).toMatchObject({ refusal: { kind: 'pending' } })
    script.settle = () => ({ success: true, transaction: TRANSACTION })
    await ring(order)
    expect(script.calls).toEqual(['verify', 'settle', 'verify', 'settle'])
    expect(await payerOf(order).begin({ v, order })).toMatchObject({ ok: true })
  })

  it('has no row and no alarm for a payment that its facilitator refuses or does not check', async () => {
    const order = newOrder(1)
    const script = scriptOf(order, { verify: () => ({ isValid: false, invalidReason: '<b>"x"</b>' }) })
    const refused = { ok: false, refusal: { kind: 'invalid', why: 'no reason given' } }
    expect(await payerOf(order).begin({ v, order })).toEqual(refused)
    script.verify = () => new Response('', { status: 503 })
    expect(await payerOf(order).begin({ v, order })).toMatchObject({ refusal: { kind: 'unavailable' } })
    expect([
      await rowsOf(order),
      await runInDurableObject(stubOf(order), (_, { storage }) => storage.getAlarm()),
    ]).toEqual([[], null])
  })

  it("rejects another wallet's payment and another version", async () => {
    const order = newOrder(1)
    const other = newOrder(1)
    await runInDurableObject(stubOf(order), async (object) => {
      const payer = object as unknown as PayerApi
      await expect(payer.begin({ v, order: other })).rejects.toThrow('another wallet')
      await expect(payer.begin({ v: 9, order })).rejects.toThrow('version')
    })
  })

  it('accepts the nonce of a login once', async () => {
    const order = newOrder(1)
    const untilMs = Date.now() + 300_000
    const used = []
    for (const nonce of ['a', 'a', 'b']) used.push(await payerOf(order).useNonce(nonce, untilMs))
    await evictDurableObject(stubOf(order))
    used.push(
      await payerOf(order).useNonce('a', untilMs),
      await payerOf(order).useNonce('c', 0),
      await payerOf(order).useNonce('c', untilMs),
    )
    expect(used).toEqual([true, false, true, false, true, true])
  })

  it('stores what it needs to ask again', async () => {
    const order = newOrder(1)
    scriptOf(order)
    await payerOf(order).begin({ v, order })
    const [row] = await rowsOf(order)
    expect(row?.order).toEqual(order)
    expect(nonceOf(row!)).toBe(order.authorization.nonce)
  })
})
