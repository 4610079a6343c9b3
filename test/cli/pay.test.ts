// `npx weir pay` against a stand-in for a gateway that takes payments.

import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { decodePaymentSignatureHeader, encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import type { PaymentRequirements } from '@x402/core/types'
import { type Hex, verifyMessage, verifyTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { parseSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { payProgram } from '../../src/cli/pay.node.ts'
import { CHAIN_ID, NAME, SELLER, TOKEN, VERSION } from '../../src/devnet/evm/token.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { say } from './stub.ts'

const WALLET_KEY = `0x${'0b'.repeat(32)}` as const
const { address } = privateKeyToAccount(WALLET_KEY)
const NETWORK = `eip155:${CHAIN_ID}` as const
const TRANSACTION = `0x${'ab'.repeat(32)}`
const ANSWER = '{"levels":[[],[]]}'
const PRICE: PaymentRequirements = {
  scheme: 'exact',
  network: NETWORK,
  asset: TOKEN,
  amount: '5000',
  payTo: SELLER,
  maxTimeoutSeconds: 60,
  extra: { name: NAME, version: VERSION },
}
let price: PaymentRequirements
/** Statuses of the first paid requests, before their payment succeeds. */
let troubles: number[]
let bodies: Readonly<Record<string, unknown>>
let seen: { readonly call: string; readonly body: string; readonly paid: string | undefined }[]
let server: HttpServer

beforeAll(async () => {
  server = await startServer(async (request: IncomingMessage, response) => {
    const call = `${request.method} ${request.url}`
    const paid = request.headers['payment-signature'] as string | undefined
    seen.push({ call, body: await text(request), paid })
    const isPriced = call.startsWith('POST /info') || call.startsWith('POST /x402/credits')
    if (isPriced && paid === undefined) {
      const required = { x402Version: 2, resource: { url: 'http://127.0.0.1/' }, accepts: [price] }
      response.setHeader('payment-required', encodePaymentRequiredHeader(required))
      return void response.writeHead(402).end('{"code":"payment_required"}')
    }
    const status = isPriced ? troubles.shift() : undefined
    if (status !== undefined) return void response.writeHead(status).end('{"msg":"Repeat the request."}')
    if (isPriced) {
      const settled = { success: true, transaction: TRANSACTION, network: NETWORK }
      response.setHeader('payment-response', encodePaymentResponseHeader(settled))
    }
    const path = request.url?.split('?')[0] ?? ''
    response.end(path === '/info' ? ANSWER : JSON.stringify(bodies[path]))
  })
})
afterAll(() => server.close())
beforeEach(() => {
  price = PRICE
  troubles = []
  bodies = {}
  seen = []
})

const pay = (line: readonly string[], env: Record<string, string> = { WALLET_KEY }) =>
  say(payProgram, [...line, '--url', server.url], env)
const BODY = '{"type":"l2Book","coin":"BTC"}'

it('prints the answer alone, and what it cost', async () => {
  expect(await pay([BODY])).toEqual({
    out: [ANSWER],
    notes: [`Paid 0.005 Devnet Dollar on ${NETWORK}: transaction ${TRANSACTION}`],
    failed: false,
  })
  expect(seen.map(({ call, body }) => [call, body])).toEqual([
    ['POST /info', BODY],
    ['POST /info', BODY],
  ])
  const { payload } = decodePaymentSignatureHeader(seen[1]!.paid!)
  const { signature, authorization } = payload as { signature: Hex; authorization: Record<string, string> }
  expect(authorization).toMatchObject({ from: address, to: SELLER, value: '5000' })
  const types = {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  }
  const domain = { name: NAME, version: VERSION, chainId: CHAIN_ID, verifyingContract: TOKEN as Hex }
  const primaryType = 'TransferWithAuthorization'
  expect(await verifyTypedData({ address, domain, types, primaryType, message: authorization, signature })).toBe(true)
})

it('repeats the same payment while its outcome is unknown, and then gives up', async () => {
  troubles = [503, 502]
  expect((await pay([BODY])).out).toEqual([ANSWER])
  expect(new Set(seen.slice(1).map(({ paid }) => paid)).size).toBe(1)
  troubles = Array.from({ length: 9 }, () => 503)
  expect(await pay([BODY])).toEqual({
    out: ['{"msg":"Repeat the request."}'],
    notes: [expect.stringMatching(/^Nothing is known to be paid\./)],
    failed: true,
  })
  expect(troubles).toHaveLength(3)
})

it.each([{ amount: '100001' }, { asset: SELLER }, { network: 'eip155:8453' as const }])(
  'pays nothing for %j',
  async (change) => {
    price = { ...PRICE, ...change }
    const message = /^The gateway asks for more than 0\.10 US dollars, or for an unknown token\./
    expect(await pay([BODY])).toEqual({ out: [], notes: [expect.stringMatching(message)], failed: true })
    expect(seen).toHaveLength(1)
  },
)

it('pays more if it is allowed to, and less', async () => {
  price = { ...PRICE, amount: '250000' }
  expect((await pay([BODY, '--max-usd', '0.25'])).notes).toEqual([expect.stringMatching(/^Paid 0\.25 /)])
  expect((await pay([BODY, '--max-usd', '0.249999'])).failed).toBe(true)
})

it('prints the key of bought credits alone', async () => {
  price = { ...PRICE, amount: '5000000' }
  bodies = { '/x402/credits': { credits: '5000', key: 'cqt_K' } }
  expect(await pay(['credits', '5'])).toEqual({
    out: ['cqt_K'],
    notes: [expect.stringMatching(/^5000 credits\. Paid 5\.00 Devnet Dollar on /)],
    failed: false,
  })
  expect(seen.at(-1)?.call).toBe('POST /x402/credits?usd=5')
  bodies = { '/x402/credits': { credits: '5000', key: null, hint: 'The account has a key.' } }
  const again = await pay(['credits', '5'])
  expect([again.out, again.notes[1]]).toEqual([[], 'The account has a key. Or use "npx weir pay key".'])
  price = { ...PRICE, amount: '5000001' }
  expect((await pay(['credits', '5'])).failed).toBe(true)
})

it('signs in with the wallet for a new key', async () => {
  bodies = { '/x402': { networks: [{ network: NETWORK }] }, '/x402/key': { key: 'cqt_N' } }
  expect(await pay(['key'])).toEqual({ out: ['cqt_N'], notes: [], failed: false })
  const { message, signature } = JSON.parse(seen.at(-1)!.body) as { message: string; signature: Hex }
  expect(await verifyMessage({ address, message, signature })).toBe(true)
  expect(parseSiweMessage(message)).toMatchObject({
    address,
    chainId: CHAIN_ID,
    domain: new URL(server.url).host,
    issuedAt: new Date('2026-11-22T12:00Z'),
    version: '1',
  })
  bodies = { '/x402': {} }
  expect((await pay(['key'])).notes).toEqual([`${server.url} takes no payments by x402.`])
})

it.each([
  [['{type:l2Book}'], { WALLET_KEY }, /^The body is not JSON/],
  [[BODY], {}, /^This gateway needs a wallet/],
  [[BODY], { WALLET_KEY: '0x12' }, /^WALLET_KEY must be a private key/],
  [['credits', '0'], { WALLET_KEY }, /must be more than 0/],
  [['credits', '1e3'], { WALLET_KEY }, /must be an amount of US dollars/],
])('%j with %j sends nothing', async (line, env, message) => {
  const { out, notes, failed } = await pay(line, env)
  expect([out, failed, seen]).toEqual([[], true, []])
  expect(notes.join('')).toMatch(message)
})
