// Stripe API client against an HTTP server that speaks its protocol.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Purchase } from '../../../src/billing/checkout/purchase.ts'
import { isSigned, stripe } from '../../../src/billing/checkout/stripe/stripe.client.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { SECRET_KEY, StripeStub, signed, WEBHOOK_SECRET } from './stripe-stub.ts'

const ORDER: Purchase = {
  seq: 17,
  number: 'W-17-k3Fz',
  account: 'acme',
  micro: 100_000_000_000,
  minor: 1_900,
  currency: 'eur',
  provider: 'stripe',
  state: 'open',
  reference: null,
  url: null,
  created: 1,
  paid: null,
  granted: null,
  refunded: 0,
  note: null,
  receipt: null,
  terms: null,
  buyer: null,
  refund_time: null,
  mandate: null,
}

const stub = new StripeStub()
let server: HttpServer
let apiUrl: string
let broken = false
const seen: string[] = []

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    if (broken) return void response.end('{"id":')
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push(body)
    const headers = new Headers(request.headers as Record<string, string>)
    const [status, json] = stub.answer(request.method!, request.url!, headers, body)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  apiUrl = server.url
})
afterAll(() => server.close())

const provider = (secretKey = SECRET_KEY) => stripe({ secretKey, apiUrl, publicUrl: 'https://api.example.com' })

describe('a Stripe session', () => {
  it('is created once per purchase, with its amount and number', async () => {
    const first = await provider().start(ORDER)
    const again = await provider().start(ORDER)
    const [id = ''] = stub.sessions.keys()
    expect(first).toEqual({ ok: true, value: { reference: id, url: `https://checkout.stripe.com/c/pay/${id}` } })
    expect(again).toEqual(first)
    expect(stub.sessions.size).toBe(1)
    expect(stub.sessions.get(id)).toMatchObject({
      amount_total: 1_900,
      currency: 'eur',
      client_reference_id: 'W-17-k3Fz',
      metadata: { order: 'W-17-k3Fz', account: 'acme' },
    })
    const form = new URLSearchParams(seen[0])
    expect(form.get('success_url')).toBe('https://api.example.com/console?order=W-17-k3Fz')
    expect(form.get('line_items[0][price_data][product_data][name]')).toBe('100000 credits')
    expect(form.get('payment_intent_data[metadata][order]')).toBe('W-17-k3Fz')
  })

  it('can be expired repeatedly, but not once complete', async () => {
    const [id = ''] = stub.sessions.keys()
    const order = { ...ORDER, reference: id }
    expect(await provider().cancel(order)).toEqual({ ok: true, value: undefined })
    expect(await provider().cancel(order)).toEqual({ ok: true, value: undefined })
    stub.sessions.get(id)!.status = 'complete'
    expect(await provider().cancel(order)).toMatchObject({
      ok: false,
      error: expect.stringContaining('may still be paid'),
    })
  })

  it('is rejected with a message without a secret', async () => {
    for (const wrong of [await provider('sk_wrong').start(ORDER), await provider('').start(ORDER)]) {
      expect(wrong.ok).toBe(false)
      expect(JSON.stringify(wrong)).not.toContain('sk_wrong')
    }
    broken = true
    expect(await provider().start(ORDER)).toEqual({
      ok: false,
      error: 'Stripe was unreachable or closed the connection',
    })
    broken = false
    expect(await stripe({ secretKey: SECRET_KEY, apiUrl: 'http://127.0.0.1:1', publicUrl: '' }).start(ORDER)).toEqual({
      ok: false,
      error: 'Stripe was unreachable or closed the connection',
    })
  })
})

describe('a Stripe signature', () => {
  const body = '{"id":"evt_1"}'
  const at = 1_790_000_000
  const holds = (header: string | null, text = body, nowMs = at * 1000) => isSigned(text, header, WEBHOOK_SECRET, nowMs)

  it('is valid among several, and for five minutes', async () => {
    const right = await signed(body, at)
    const [, mac] = right.split(',')
    expect(await holds(right)).toBe(true)
    expect(await holds(`t=${at},v1=${'0'.repeat(64)},${mac},v0=${'1'.repeat(64)}`)).toBe(true)
    expect(await holds(right, body, (at + 300) * 1000)).toBe(true)
  })

  it.each([
    ['another secret', () => signed(body, at, 'whsec_other')],
    ['an altered time', async () => (await signed(body, at)).replace(`t=${at}`, `t=${at + 1}`)],
    ['v0 alone', () => signed(body, at, WEBHOOK_SECRET, 'v0')],
    ['no header', () => null],
    ['an empty one', () => ''],
    ['no time', async () => (await signed(body, at)).replace(/t=\d+,/, '')],
    ['two times', async () => `t=1,${await signed(body, at)}`],
    ['a time that is none', async () => (await signed(body, at)).replace(/t=\d+/, 't=soon')],
    ['an age of 301 s', () => signed(body, at - 301)],
    ['a time to come', () => signed(body, at + 301)],
    ['capitals', async () => (await signed(body, at)).replace(/v1=.*/, (mac) => `v1=${mac.slice(3).toUpperCase()}`)],
  ])('does not hold with %s', async (_, header) => {
    expect(await holds(await header())).toBe(false)
  })

  it('is invalid for another body', async () => {
    expect(await holds(await signed(body, at), `${body} `)).toBe(false)
  })
})
