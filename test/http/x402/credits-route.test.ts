// POST /x402/credits with a fake Payer: prices, keys, and what the buyer hears when something fails.

import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, it } from 'vitest'
import type { IssuedKey } from '../../../src/billing/x402/booking.ts'
import type { BeginResponse, SettleResponse } from '../../../src/billing/x402/payer-api.ts'
import type { PaymentOrder } from '../../../src/billing/x402/payment.ts'
import { X402 } from '../../../src/billing/x402/settings.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { creditsRoutes } from '../../../src/http/x402/credits.route.ts'

const NETWORKS = X402.parse(
  JSON.stringify({
    payTo: `0x${'c0'.repeat(20)}`,
    network: 'eip155:8453',
    asset: { address: `0x${'a5'.repeat(20)}`, symbol: 'USDC', decimals: 6, name: 'USD Coin', version: '2' },
    facilitator: 'https://facilitator.example',
    creditsPerUsd: '1000',
    leastUsd: '0.005',
    multiple: '2',
    topUp: { leastUsd: '1', mostUsd: '1000' },
    plan: 'entry',
  }),
)
const TRANSACTION = `0x${'f'.repeat(64)}`
const WALLET = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const ACCOUNT = `x402-${WALLET.address.slice(2).toLowerCase()}`
const KEY: IssuedKey = { key: 'cqt_new', hash: keyHashOf('h'), prefix: 'cqt_new', label: 'x402' }

let events: unknown[]
let begun: BeginResponse
let settled: SettleResponse
let issue: () => Promise<IssuedKey | null>
let address = 0
/** Stands still within a test, because the limits refill with time. */
let nowMs = 0

beforeEach(() => {
  events = []
  begun = { ok: true, holder: 1 }
  settled = { ok: true, transaction: TRANSACTION, isBooked: true, isFirst: true }
  issue = async () => KEY
  address++
  nowMs = Date.now()
})

const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }

function post(usd: string, headers: Record<string, string> = {}) {
  const routes = creditsRoutes({
    networks: NETWORKS,
    payer: () => ({
      begin: async ({ order }) => {
        events.push(order)
        return begun
      },
      settle: async () => {
        events.push('settle')
        return settled
      },
      release: async () => {},
      useNonce: async () => true,
    }),
    issueKey: (account, how, kind) => {
      events.push([account, how, kind])
      return issue()
    },
    addressOf: () => `192.0.2.${address}`,
    requestId: () => 'req_1',
    report: () => events.push('report'),
    nowMs: () => nowMs,
  })
  return routes.request(`https://api.example/x402/credits${usd}`, { method: 'POST', headers }, {}, context as never)
}

async function buy(usd = '?usd=5') {
  const priced = await post(usd)
  const client = new x402Client()
    .register('eip155:*', new ExactEvmScheme(WALLET))
    .setSpendControls({ allowedAssets: true })
  const http = new x402HTTPClient(client)
  const required = http.getPaymentRequiredResponse((name) => priced.headers.get(name))
  return post(usd, http.encodePaymentSignatureHeader(await client.createPaymentPayload(required)))
}

describe('POST /x402/credits', () => {
  it('says the price', async () => {
    const response = await post('?usd=2.50')
    expect([response.status, response.headers.has('payment-required')]).toEqual([402, true])
    expect(await response.json()).toMatchObject({
      code: 'payment_required',
      msg: expect.stringMatching(/^To buy credits, pay 2\.5 USDC/),
    })
  })

  it.each(['', '?usd=', '?usd=0.5', '?usd=1001', '?usd=x', '?USD=5'])('refuses %j before a price', async (query) => {
    const response = await post(query)
    expect([response.status, response.headers.has('payment-required')]).toEqual([422, false])
    expect(await response.json()).toMatchObject({ code: 'invalid_request', msg: expect.stringMatching(/^usd: /) })
  })

  it('settles, then issues the first key', async () => {
    const response = await buy()
    expect(response.status).toBe(201)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.has('payment-response')).toBe(true)
    expect(await response.json()).toEqual({
      account: ACCOUNT,
      credits: '5000',
      usd: '5',
      transaction: TRANSACTION,
      key: 'cqt_new',
    })
    const [order, ...others] = events as [PaymentOrder, ...unknown[]]
    expect(order).toMatchObject({ account: ACCOUNT, call: null, micro: 5_000_000_000, minor: 5_000_000 })
    expect(others).toEqual(['settle', [ACCOUNT, 'first', 'api']])
  })

  it('names the way to a key if there is one already', async () => {
    issue = async () => null
    expect(await (await buy()).json()).toMatchObject({ key: null, hint: expect.stringMatching(/POST \/x402\/key/) })
  })

  it('issues no key before the credits are granted', async () => {
    settled = { ok: true, transaction: TRANSACTION, isBooked: false, isFirst: true }
    const response = await buy()
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { key: null, hint: expect.stringMatching(/within minutes/) },
    ])
    expect(events).not.toContainEqual([ACCOUNT, 'first', 'api'])
  })

  it('issues no key to somebody who repeats a payment, which the chain shows to everybody', async () => {
    settled = { ok: true, transaction: TRANSACTION, isBooked: true, isFirst: false }
    expect(await (await buy()).json()).toMatchObject({ key: null, hint: expect.stringMatching(/signed by the wallet/) })
    expect(events).not.toContainEqual([ACCOUNT, 'first', 'api'])
  })

  it('does not fail after the payment if no key can be issued', async () => {
    issue = async () => Promise.reject(new Error('down'))
    const response = await buy()
    expect([response.status, events.at(-1)]).toEqual([201, 'report'])
  })

  it('says that the same payment can be repeated, or that a new one is needed', async () => {
    settled = { ok: false, refusal: { kind: 'pending' } }
    const pending = await buy()
    expect([pending.status, pending.headers.has('payment-required')]).toEqual([503, false])
    begun = { ok: false, refusal: { kind: 'used' } }
    const used = await buy()
    expect([used.status, used.headers.has('payment-required')]).toEqual([402, true])
  })

  it('is limited per address', async () => {
    const statuses = await Promise.all(Array.from({ length: 25 }, async () => (await post('?usd=5')).status))
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
  })
})
