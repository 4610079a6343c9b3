// Calls without a key over the real services, with payments that the unmodified client of x402 signs: what is refused, what
// is paid and when, and what reaches the wallet's Payer.

import { x402Client, x402HTTPClient } from '@x402/core/client'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { Hono } from 'hono'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, it } from 'vitest'
import type {
  BeginRequest,
  BeginResponse,
  EndRequest,
  PayerApi,
  SettleResponse,
} from '../../src/billing/x402/payer-api.ts'
import { admitVisitor } from '../../src/billing/x402/paying-visitor.client.ts'
import { X402 } from '../../src/billing/x402/settings.ts'
import type { Failure } from '../../src/core/failure.ts'
import { err } from '../../src/core/result.ts'
import { infoRoutes } from '../../src/http/info.route.ts'
import type { Access } from '../../src/http/metered.route.ts'
import { rpcRoutes } from '../../src/http/rpc.route.ts'
import { RpcService } from '../../src/rpc/rpc-service.ts'
import { createWorld } from '../info/answer/service-world.ts'

const NETWORK = {
  payTo: `0x${'C0'.repeat(20)}`,
  network: 'eip155:8453',
  asset: { address: `0x${'A5'.repeat(20)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' },
  facilitator: 'https://facilitator.example',
  creditsPerUsd: '1000',
  leastUsd: '0.005',
  multiple: '2',
  topUp: { leastUsd: '1', mostUsd: '1000' },
  plan: 'entry',
}
const NETWORKS = X402.parse(JSON.stringify(NETWORK))
const TRANSACTION = `0x${'f'.repeat(64)}`
const WALLET = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const URL_INFO = 'https://api.example/info'

let calls: [string, unknown][]
let begin: (request: BeginRequest) => Promise<BeginResponse>
let settle: () => Promise<SettleResponse>
let now: number
let background: Promise<unknown>[]
let addressNumber = 0

const payer: PayerApi = {
  begin: (request) => {
    calls.push(['begin', request.order])
    return begin(request)
  },
  settle: (request: EndRequest) => {
    calls.push(['settle', request.holder])
    return settle()
  },
  release: async (request: EndRequest) => void calls.push(['release', request.holder]),
  useNonce: async () => true,
}
const named = () => calls.map(([name]) => name)

beforeEach(() => {
  calls = []
  background = []
  now = Date.now()
  begin = async () => ({ ok: true, holder: 7 })
  settle = async () => ({ ok: true, transaction: TRANSACTION, isBooked: false, isFirst: true })
  addressNumber++
})

const context = {
  waitUntil: (work: Promise<unknown>) => background.push(work),
  passThroughOnException: () => {},
  props: {},
}

function app(world = createWorld(), missing: Failure = { kind: 'key_missing' }) {
  const access: Access = {
    authenticate: () => err(missing),
    charging: () => ({
      hold: () => {
        throw new Error('a visitor has no meter')
      },
    }),
    requestId: () => 'req_9',
    admitVisitor: async (request, waitUntil) =>
      admitVisitor(request, waitUntil, {
        networks: NETWORKS,
        payer: () => payer,
        addressOf: () => `192.0.2.${addressNumber}`,
        nowMs: () => now,
      }),
  }
  const resolved = { ok: true, value: { isCharged: true, text: '"result":"0x1"', id: '1' } }
  const chain = {
    prices: { of: () => ({ product: 'rpc', type: 'eth_call', amount: 1_000_000 }) },
    cache: { cached: () => undefined, resolve: async (some: readonly unknown[]) => some.map(() => resolved) },
  }
  const rpc = new RpcService({ chains: new Map([['evm', chain as never]]), now: () => now, report: () => {} })
  return new Hono()
    .route('/', infoRoutes(world.service, access, { pathKeys: false }))
    .route('/', rpcRoutes(rpc, access))
}

const JSON_TYPE = { 'content-type': 'application/json' }
async function post(body: string, headers: Record<string, string> = {}, url = URL_INFO, routes = app()) {
  const response = await routes.request(
    url,
    { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body },
    {},
    context as never,
  )
  return response
}

/** The header that the public client sends for a 402 response. */
async function paymentFor(response: Response, change: (payload: never) => object = (payload) => payload) {
  const client = new x402Client()
    .register('eip155:*', new ExactEvmScheme(WALLET))
    .setSpendControls({ allowedAssets: true })
  const required = new x402HTTPClient(client).getPaymentRequiredResponse((name) => response.headers.get(name))
  const payload = change((await client.createPaymentPayload(required)) as never)
  return { 'payment-signature': btoa(JSON.stringify(payload)) }
}

const BODY = '{"type":"meta"}'

describe('a call without a key', () => {
  it('is not asked to pay if it has a key in the wrong place', async () => {
    const hint = 'An API key in the header x-api-key is not accepted.'
    const routes = app(createWorld(), { kind: 'key_missing', isMisplaced: true, hint })
    const response = await post(BODY, {}, URL_INFO, routes)
    expect([response.status, response.headers.get('payment-required')]).toEqual([401, null])
    expect(await response.text()).toContain(hint)
  })

  it('is told its price, in the usual form and in that of x402', async () => {
    const response = await post(BODY)
    expect(response.status).toBe(402)
    const body = await response.json()
    expect(body).toMatchObject({ error: 'payment_required', code: 'payment_required', request_id: 'req_9' })
    expect(body).toMatchObject({ msg: expect.stringMatching(/Authorization: Bearer.*pay 0\.005 USDC on eip155:8453/) })
    expect(decodePaymentRequiredHeader(response.headers.get('payment-required')!)).toMatchObject({
      x402Version: 2,
      resource: { url: URL_INFO },
      accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '5000', payTo: NETWORK.payTo.toLowerCase() }],
    })
    expect([named(), response.headers.get('x-credits-cost')]).toEqual([[], '0'])
  })

  it('is refused before its price if it is invalid', async () => {
    const statuses = await Promise.all(
      ['{', '{"type":"nope"}', '{"type":"l2Book"}'].map(async (body) => (await post(body)).status),
    )
    expect([statuses, named()]).toEqual([[400, 400, 422], []])
  })

  it('is answered, then paid, and says what it cost', async () => {
    const response = await post(BODY, await paymentFor(await post(BODY)))
    expect([
      response.status,
      response.headers.get('x-credits-cost'),
      response.headers.get('x-credits-remaining'),
    ]).toEqual([200, '5', null])
    expect(decodePaymentResponseHeader(response.headers.get('payment-response')!)).toEqual({
      success: true,
      transaction: TRANSACTION,
      network: 'eip155:8453',
      payer: WALLET.address.toLowerCase(),
    })
    expect(calls).toEqual([
      [
        'begin',
        expect.objectContaining({
          account: `x402-${WALLET.address.slice(2).toLowerCase()}`,
          micro: 5_000_000,
          minor: 5_000,
          currency: 'usdc',
          call: { product: 'info', type: 'meta' },
        }),
      ],
      ['settle', 7],
    ])
    expect(background.length).toBeGreaterThan(0)
  })

  it('is not paid if it has no answer', async () => {
    const world = createWorld()
    world.upstream = async () => err({ kind: 'upstream_failed', source: 'node' })
    const response = await post(BODY, await paymentFor(await post(BODY)), URL_INFO, app(world))
    expect([response.status, named()]).toEqual([502, ['begin', 'release']])
  })

  it.each([
    ['busy', 429, null],
    ['too_many', 429, null],
    ['pending', 503, null],
    ['unavailable', 503, null],
    ['unclear', 503, null],
    ['invalid', 402, 'payment-required'],
    ['failed', 402, 'payment-required'],
    ['used', 402, 'payment-required'],
    ['other_request', 402, 'payment-required'],
    ['credited', 402, 'payment-required'],
  ] as const)(
    'whose payment is %s is refused, and asked to pay again only if it must',
    async (kind, status, header) => {
      const payment = await paymentFor(await post(BODY))
      const refused = { ok: false, refusal: { kind, why: 'a reason' } } as const
      begin = async () => refused
      const before = await post(BODY, payment)
      begin = async () => ({ ok: true, holder: 7 })
      settle = async () => refused
      const after = await post(BODY, payment)
      for (const response of [before, after]) {
        expect([response.status, response.headers.has('payment-required')]).toEqual([status, header !== null])
        expect((await response.json()) as object).not.toHaveProperty('universe')
      }
      expect(decodePaymentResponseHeader(after.headers.get('payment-response')!)).toMatchObject({ success: false })
    },
  )

  it('is not answered if its Payer cannot be reached', async () => {
    const payment = await paymentFor(await post(BODY))
    begin = async () => Promise.reject(new Error('gone'))
    expect((await post(BODY, payment)).status).toBe(503)
    begin = async () => ({ ok: true, holder: 7 })
    settle = async () => Promise.reject(new Error('gone'))
    const response = await post(BODY, payment)
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { msg: expect.stringMatching(/Do not sign another/) },
    ])
  })

  it('has a digest of its URL, body, price and receiver', async () => {
    const digests = new Set<string>()
    const requests = [
      [URL_INFO, BODY],
      [URL_INFO, `${BODY} `],
      [`${URL_INFO}?x=1`, BODY],
      ['https://other.example/info', BODY],
    ] as const
    for (const [url, body] of requests) {
      const response = await post(body, {}, url)
      await post(body, await paymentFor(response), url)
    }
    for (const [, order] of calls.filter(([name]) => name === 'begin'))
      digests.add((order as { digest: string }).digest)
    expect(digests.size).toBe(requests.length)
  })

  it('cannot pay for a batch, and a single call of JSON-RPC can be paid', async () => {
    const url = 'https://api.example/v1/evm'
    const one = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}'
    const priced = await post(one, {}, url)
    expect([priced.status, await priced.json()]).toMatchObject([402, { error: { code: -32003 } }])
    const payment = await paymentFor(priced)
    const batch = await post(`[${one},${one}]`, payment, url)
    expect([batch.status, named()]).toEqual([403, []])
    const paid = await post(one, payment, url)
    expect([paid.status, named()]).toEqual([200, ['begin', 'settle']])
  })

  it('is limited per address', async () => {
    const responses = await Promise.all(Array.from({ length: 30 }, () => post('{')))
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(10)
  })
})

describe('a header that is no payment of this request', () => {
  type Payload = {
    x402Version: number
    resource: object
    accepted: Record<string, unknown>
    payload: { signature: string; authorization: Record<string, string> }
  }
  const changed = (change: (payload: Payload) => object) => change as (payload: never) => object
  const authorized = (more: Record<string, string>) =>
    changed((payload) => ({
      ...payload,
      payload: { ...payload.payload, authorization: { ...payload.payload.authorization, ...more } },
    }))
  const accepted = (more: object) => changed((payload) => ({ ...payload, accepted: { ...payload.accepted, ...more } }))
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as object
  const seconds = () => Math.floor(Date.now() / 1000)

  it.each<[string, (payload: never) => object]>([
    ['version 1', changed((payload) => ({ ...payload, x402Version: 1 }))],
    ['another URL', changed((payload) => ({ ...payload, resource: { url: 'https://api.example/other' } }))],
    ['another amount', accepted({ amount: '4999' })],
    ['another receiver in its terms', accepted({ payTo: `0x${'ee'.repeat(20)}` })],
    ['another network', accepted({ network: 'eip155:1' })],
    ['another scheme', accepted({ scheme: 'upto' })],
    ['another asset', accepted({ asset: `0x${'ee'.repeat(20)}` })],
    ['another domain', accepted({ extra: { name: 'Other', version: '2' } })],
    [
      'prototype keys',
      changed(
        (payload) =>
          JSON.parse(
            JSON.stringify(payload).replace('"payload"', '"__proto__":{"payload":1},"constructor":1,"payloads"'),
          ) as object,
      ),
    ],
    ['deep JSON', changed((payload) => ({ ...payload, extensions: nested(1_000) }))],
    ['deep terms', accepted({ extra: { name: 'USD Coin', version: '2', more: nested(500) } })],
    ['no payload', changed((payload) => ({ ...payload, payload: {} }))],
    [
      'a contract signature',
      changed((payload) => ({ ...payload, payload: { ...payload.payload, signature: `0x${'1'.repeat(400)}` } })),
    ],
    [
      'a wrong signature',
      changed((payload) => ({ ...payload, payload: { ...payload.payload, signature: `0x${'1'.repeat(130)}` } })),
    ],
    ['another wallet', authorized({ from: `0x${'ee'.repeat(20)}` })],
    ['another receiver', authorized({ to: `0x${'ee'.repeat(20)}` })],
    ['more value', authorized({ value: '5001' })],
    ['less value', authorized({ value: '4999' })],
    ['no value', authorized({ value: '-5000' })],
    ['a future start', authorized({ validAfter: String(seconds() + 100) })],
    ['a far expiry', authorized({ validBefore: String(seconds() + 86_400) })],
    ['an endless expiry', authorized({ validBefore: '115792089237316195423570985008687907853269984665640564039457' })],
    ['another nonce', authorized({ nonce: `0x${'0'.repeat(64)}` })],
    ['a short nonce', authorized({ nonce: '0x1' })],
  ])('is refused without work: %s', async (_, change) => {
    const response = await post(BODY, await paymentFor(await post(BODY), change))
    expect([response.status, response.headers.has('payment-required'), named()]).toEqual([402, true, []])
    expect(await response.json()).toMatchObject({
      code: 'payment_required',
      msg: expect.stringMatching(/^(?:The|This) /),
    })
  })

  it.each(['', ' ', '{}', '@@@', 'bnVsbA==', 'W10=', 'A'.repeat(9_000), btoa('{"x402Version":2}'), 'e30=, e30='])(
    'is refused without work: %j',
    async (header) => {
      const response = await post(BODY, { 'payment-signature': header })
      expect([response.status, named()]).toEqual([402, []])
    },
  )

  it('is accepted with an address in any case', async () => {
    const { address } = WALLET
    const upper = `0x${address.slice(2).toUpperCase()}`
    const response = await post(BODY, await paymentFor(await post(BODY), authorized({ from: upper })))
    expect([response.status, named()]).toEqual([200, ['begin', 'settle']])
  })
})
