// OpenAPI operations of payments by x402, and their headers. A gateway has them if `X402` is set.

import * as z from 'zod'
import { LoginRequest, WalletKey } from '../../billing/x402/login-request.ts'
import { PriceList } from '../../billing/x402/price-list.ts'
import { jsonContent, ref, schemaOf } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>
type Shared = Map<string, unknown>

/** Response headers of paid operations. */
export const PAYMENT_HEADERS = {
  'payment-required':
    'Without a key, where wallets pay by x402: how to pay for this call, base64 JSON (`PaymentRequired` of x402 version 2)',
  'payment-response':
    'For a call that a wallet paid for: the transaction, base64 JSON (`SettleResponse` of x402 version 2)',
} as const

/** Part of the description of status 402. */
export const PAYMENT_TEXT =
  'Without a key, where wallets pay by x402: the call has to be paid for, see the header `payment-required`'

const Sale = z.object({
  account: z.string().describe('Account of the wallet'),
  credits: z.string().describe('Credits that were bought; they do not expire'),
  usd: z.string().describe('Amount in US dollars'),
  transaction: z.string().describe('Transaction of the payment'),
  key: z
    .string()
    .nullable()
    .describe('New API key, shown only once; null: the account has one, or the credits are not booked yet'),
  hint: z.string().optional().describe('How to get a key, if `key` is null'),
})

const ADDRESS = `0x${'ab'.repeat(20)}`
const ACCOUNT = `x402-${'cd'.repeat(20)}`
const KEY = `cqt_${'1'.repeat(26)}`
const SIGNATURE = `0x${'00'.repeat(65)}`

const LOGIN_TEXT = [
  'api.example.com wants you to sign in with your Ethereum account:',
  ADDRESS,
  '',
  'Get a new API key.',
  '',
  'URI: https://api.example.com/x402/key',
  'Version: 1',
  'Chain ID: 8453',
  'Nonce: k3Fz9aQ27Lmx',
  'Issued At: 2026-11-30T12:00:00.000Z',
].join('\n')

/** Paths of payments, with the schemas that they share. */
export function paymentPaths(shared: Shared): Record<string, Json> {
  return {
    '/x402': { get: pricesOperation(shared) },
    '/x402/credits': { post: creditsOperation(shared) },
    '/x402/key': { post: keyOperation(shared) },
  }
}

const COMMON = { tags: ['x402'], security: [] }
const OFF = [404, 'This gateway does not accept payments by x402'] as const

/** Error responses, the shared ones and those with a description of their own. */
function refused(...statuses: readonly (number | readonly [status: number, description: string])[]): Json {
  const all = statuses.map((one) => {
    if (typeof one === 'number') return [one, ref('responses', String(one))]
    const [status, description] = one
    return [status, { description, content: jsonContent({ schema: ref('schemas', 'Refusal') }) }]
  })
  return Object.fromEntries(all)
}

function pricesOperation(shared: Shared): Json {
  return {
    ...COMMON,
    operationId: 'x402Prices',
    summary: 'Where wallets pay, and what each call costs without a key',
    responses: {
      200: { description: 'The price list', content: jsonContent({ schema: schemaOf(PriceList, shared) }) },
      ...refused(OFF, 429, 500),
    },
  }
}

function parameter(name: string, location: 'query' | 'header', description: string): Json {
  return { name, in: location, required: location === 'query', description, schema: { type: 'string' } }
}

function creditsOperation(shared: Shared): Json {
  return {
    ...COMMON,
    operationId: 'buyCredits',
    summary: 'Buys credits with one payment by x402',
    description:
      'The first payment of a wallet creates its account and returns an API key. A payment that is sent again buys nothing again. See [Pay per call](/docs/guides/pay-per-call).',
    parameters: [
      parameter('usd', 'query', 'US dollars, such as 5 or 2.50'),
      parameter(
        'payment-signature',
        'header',
        'The payment, base64 JSON (`PaymentPayload` of x402 version 2). Without it, the response is 402',
      ),
    ],
    responses: {
      201: {
        description: 'The credits that were bought',
        headers: { 'payment-response': ref('headers', 'payment-response') },
        content: jsonContent({
          schema: schemaOf(Sale, shared),
          example: { account: ACCOUNT, credits: '5000', usd: '5', transaction: `0x${'ef'.repeat(32)}`, key: KEY },
        }),
      },
      ...refused(402, OFF, 422, 429, 500, 503),
    },
  }
}

function keyOperation(shared: Shared): Json {
  const issued = { account: ACCOUNT, key: KEY, hash: 'a1'.repeat(32), prefix: KEY.slice(0, 12), label: 'x402' }
  return {
    ...COMMON,
    operationId: 'rotateWalletKey',
    summary: 'Returns a new API key to a wallet that has paid',
    description:
      'The wallet proves itself with a signed text (EIP-4361). The API key that x402 issued before ends at once.',
    requestBody: {
      required: true,
      content: jsonContent({
        schema: schemaOf(LoginRequest, shared),
        example: { message: LOGIN_TEXT, signature: SIGNATURE },
      }),
    },
    responses: {
      201: {
        description: 'The new key',
        content: jsonContent({ schema: schemaOf(WalletKey, shared), example: issued }),
      },
      ...refused([403, 'The wallet did not sign the message'], [404, 'This wallet has not paid here']),
      ...refused(413, 415, 422, 429, 500),
    },
  }
}
