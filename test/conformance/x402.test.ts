// Payments by x402 against devnet's chain and facilitator: unmodified public clients pay for calls and credits, and the
// chain shows one transfer for each. Then what is refused, and a facilitator that fails.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { wrapAxiosWithPayment } from '@x402/axios'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import axios from 'axios'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createSiweMessage, generateSiweNonce } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { gatewayVariables } from '../../src/cli/launch/args.ts'
import { CHAIN_ID, SELLER, TOKEN } from '../../src/devnet/evm/token.ts'
import { type Exchange, SLOW_BLOCKS, startExchange, startWorld } from '../kit/gateway.ts'
import { clientOf, openChain, paidOrders, payingFetch } from '../kit/wallets.ts'

const USER = `0x${'ab'.repeat(20)}`
const BOOK = { type: 'l2Book', coin: 'BTC' }
const WAIT = { timeout: 30_000, interval: 100 }
const LEAST = 5_000n

let exchange: Exchange
let chain: ReturnType<typeof openChain>
let wallets: PrivateKeyAccount[]

beforeAll(async () => {
  exchange = await startExchange({
    args: () => SLOW_BLOCKS,
    gateway: (node) => {
      // As `npm start` sets them.
      const variables = gatewayVariables({}, node, '')
      const { X402 = '', RPC_CHAINS = '' } = variables.ok ? variables.value.vars : {}
      return startWorld({ node, vars: { X402, RPC_CHAINS }, objectVars: { X402, RPC_CHAINS } })
    },
  })
  chain = openChain(exchange.node)
  wallets = await chain.fund(5, 50_000_000n)
})
afterAll(() => exchange?.stop())

const post = (path: string, body: unknown, headers: Record<string, string> = {}): [string, RequestInit] => [
  exchange.gateway.url + path,
  {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  },
]
const receiptOf = ({ headers }: Response) => decodePaymentResponseHeader(headers.get('payment-response')!)
const misbehave = (fault: object) => {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${exchange.node}/misbehave`, { method: 'POST', headers, body: JSON.stringify(fault) })
}
/** Runs `act`, and returns what the seller earned meanwhile, in atomic units. */
async function earnedBy(act: () => Promise<unknown>): Promise<bigint> {
  const before = await chain.earned()
  await act()
  return (await chain.earned()) - before
}
/** A paid request whose header a test sends again. */
async function pay(account: PrivateKeyAccount, path: string, body: unknown) {
  let header = ''
  const paying = payingFetch(account, (request) => {
    header = request.headers.get('payment-signature') ?? header
  })
  const answer = await paying(...post(path, body))
  return { answer, header: { 'payment-signature': header } }
}

describe('a call without a key', () => {
  it('is answered with its price, in the form of its surface', async () => {
    const answer = await fetch(...post('/info', BOOK))
    expect([answer.status, await answer.json()]).toEqual([402, expect.objectContaining({ code: 'payment_required' })])
    const { x402Version, accepts, resource } = decodePaymentRequiredHeader(answer.headers.get('payment-required')!)
    expect(x402Version).toBe(2)
    expect(resource?.url).toBe(`${exchange.gateway.url}/info`)
    expect(accepts).toMatchObject([
      { scheme: 'exact', network: `eip155:${CHAIN_ID}`, asset: TOKEN, payTo: SELLER, amount: String(LEAST) },
    ])
  })

  it.each([
    ['/info', { type: 'nonsense' }],
    ['/info', { type: 'l2Book' }],
    ['/info', '{'],
    ['/v1/hyperliquid', { jsonrpc: '2.0', id: 1, method: 5 }],
  ])('is refused before it is priced: %s %j', async (path, body) => {
    const answer = await fetch(...post(path, body))
    expect(answer.headers.get('payment-required')).toBeNull()
    expect([400, 404, 422]).toContain(answer.status)
  })

  it('with a key needs no payment, and a wrong key is not offered one', async () => {
    const answer = await exchange.gateway.info(exchange.key, BOOK)
    expect([answer.status, answer.headers.get('payment-response')]).toEqual([200, null])
    const wrong = await exchange.gateway.info(`cqt_${'A'.repeat(26)}`, BOOK)
    expect([wrong.status, wrong.headers.get('payment-required')]).toEqual([401, null])
  })
})

describe('@x402/fetch', () => {
  it('pays for a book: one transfer on the chain', async () => {
    const [wallet] = wallets
    const earned = await earnedBy(async () => {
      const { answer } = await pay(wallet!, '/info', BOOK)
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ coin: 'BTC' })])
      const { success, transaction, payer } = receiptOf(answer)
      expect([success, payer?.toLowerCase()]).toEqual([true, wallet!.address.toLowerCase()])
      const receipt = await chain.client.getTransactionReceipt({ hash: transaction as `0x${string}` })
      expect(receipt.status).toBe('success')
    })
    expect(earned).toBe(LEAST)
  })

  it('pays for a call of the chain, but not for several at once', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
    const { answer } = await pay(wallets[0]!, '/v1/hyperliquid', call)
    expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: '0x3e7' }])
    const earned = await earnedBy(async () => {
      const batch = await fetch(...post('/v1/hyperliquid', [call, { ...call, id: 2 }]))
      expect(batch.ok).toBe(false)
      expect(batch.headers.get('payment-required')).toBeNull()
    })
    expect(earned).toBe(0n)
  })
})

it('@x402/axios pays for balances', async () => {
  const paying = wrapAxiosWithPayment(axios.create(), clientOf(wallets[1]!) as never)
  const earned = await earnedBy(async () => {
    const { status, data, headers } = await paying.get(
      `${exchange.gateway.url}/v1/hyperliquid/address/${USER}/balances_v2/`,
    )
    expect([status, data.error]).toEqual([200, false])
    expect(decodePaymentResponseHeader(headers['payment-response'] as string).success).toBe(true)
  })
  expect(earned).toBe(LEAST)
})

describe('a payment', () => {
  it('sent again brings the same outcome, and no second transfer', async () => {
    const { header } = await pay(wallets[1]!, '/info', BOOK)
    const earned = await earnedBy(async () => {
      const answers = await Promise.all([1, 2].map(() => fetch(...post('/info', BOOK, header))))
      for (const answer of answers) expect([200, 409, 429, 503]).toContain(answer.status)
      expect(answers.some(({ ok }) => ok)).toBe(true)
    })
    expect(earned).toBe(0n)
  })

  it('buys nothing else', async () => {
    const { header } = await pay(wallets[1]!, '/info', BOOK)
    const earned = await earnedBy(async () => {
      for (const [path, body] of [
        ['/info', { ...BOOK, coin: 'ETH' }],
        ['/v1/hyperliquid', { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }],
        ['/x402/credits?usd=5', undefined],
      ] as const) {
        const answer = await fetch(...post(path, body ?? '', header))
        expect([path, answer.ok]).toEqual([path, false])
        expect(answer.headers.get('payment-response')).toBeNull()
      }
    })
    expect(earned).toBe(0n)
  })

  it.each([
    ['not base64', '%'],
    ['not JSON', btoa('{')],
    ['incomplete', btoa('{"x402Version":2}')],
    ['with a prototype', btoa('{"x402Version":2,"__proto__":{"a":1},"payload":{}}')],
    ['long', 'A'.repeat(7_000)],
  ])('that cannot be read is refused: %s', async (_, header) => {
    const answer = await fetch(...post('/info', BOOK, { 'payment-signature': header }))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
  })

  it('is not settled when the answer fails', async () => {
    // A type that only the node answers, for a wallet that nobody asked for yet.
    const request = { type: 'userFees', user: `0x${'0d'.repeat(20)}` }
    await misbehave({ how: '500', types: ['userFees'] })
    const earned = await earnedBy(async () => {
      const { answer } = await pay(wallets[1]!, '/info', request)
      expect(answer.status).toBeGreaterThanOrEqual(500)
    })
    expect(earned).toBe(0n)
    await misbehave({ how: 'none' })
  })
})

describe('a tool of the MCP server', () => {
  const mcp = async (headers: Record<string, string> = {}) => {
    const client = new Client({ name: 'test', version: '1' })
    const url = new URL(`${exchange.gateway.url}/mcp`)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    return client
  }
  const call = (client: Client, name: string, args: object, payment?: object) =>
    client.callTool({ name, arguments: args as never, ...(payment && { _meta: { 'x402/payment': payment } }) })
  /** Pays for a tool as the MCP transport of x402 says. */
  async function payFor(client: Client, wallet: PrivateKeyAccount, name: string, args: object) {
    const { structuredContent: required, isError } = await call(client, name, args)
    expect([isError, required]).toMatchObject([true, { x402Version: 2 }])
    return clientOf(wallet).createPaymentPayload(required as never)
  }
  const book = { coin: 'BTC', depth: 3 }

  it('is offered without a key, paid once, and answers as with one', async () => {
    const client = await mcp()
    const { structuredContent: required, content } = await call(client, 'order_book', book)
    expect(JSON.parse((content as { text: string }[])[0]!.text)).toEqual(required)
    const { accepts, resource } = required as Required<PaymentRequired>
    expect([accepts[0]?.amount, resource.url]).toEqual([String(LEAST), `${exchange.gateway.url}/mcp`])
    const payment = await payFor(client, wallets[4]!, 'order_book', book)
    const earned = await earnedBy(async () => {
      // The second one is the same call, sent again.
      for (const each of [payment, payment]) {
        const { structuredContent, isError, _meta } = await call(client, 'order_book', book, each)
        expect([isError ?? false, structuredContent]).toMatchObject([
          false,
          { credits_cost: '5', result: { coin: 'BTC', bids: expect.any(Array) } },
        ])
        expect(_meta?.['x402/payment-response']).toMatchObject({ success: true })
      }
    })
    expect(earned).toBe(LEAST)
    await client.close()
  })

  it('has one price for all its requests, and its payment buys nothing else', async () => {
    const client = await mcp()
    // Two requests of POST /info.
    const payment = await payFor(client, wallets[4]!, 'market_overview', { coin: 'BTC' })
    const earned = await earnedBy(async () => {
      expect((await call(client, 'market_overview', { coin: 'BTC' }, payment)).isError ?? false).toBe(false)
      for (const [name, args] of [
        ['market_overview', { coin: 'ETH' }],
        ['order_book', book],
      ] as const) {
        const refused = await call(client, name, args, payment)
        expect([name, refused.isError]).toEqual([name, true])
      }
      const answers = await fetch(...post('/info', BOOK, { 'payment-signature': btoa(JSON.stringify(payment)) }))
      expect(answers.ok).toBe(false)
    })
    expect(earned).toBe(LEAST)
    await client.close()
  })

  it('is checked before it is priced, and not paid when it fails', async () => {
    const client = await mcp()
    for (const [name, args] of [
      ['order_book', { coin: 'BTC', depth: {} }],
      ['info', { type: 'l2Book' }],
      ['info', { type: 'nonsense' }],
      ['key_usage', {}],
      ['export_sql', { product: 'fills_by_user', startTime: 1, endTime: 2 }],
    ] as const) {
      const { isError, structuredContent } = await call(client, name, args)
      expect([name, isError]).toEqual([name, true])
      expect(structuredContent ?? {}).not.toHaveProperty('accepts')
    }
    const gone = { type: 'userFees', request: { user: `0x${'0e'.repeat(20)}` } }
    // Not the payment of a wallet, or not in the header that HTTP has for it.
    for (const odd of [{ a: '\u{1f600}' }, { x402Version: 2, text: 'x'.repeat(10_000) }]) {
      const { isError, structuredContent } = await call(client, 'order_book', book, odd)
      expect([isError, structuredContent]).toMatchObject([true, { accepts: [{ amount: String(LEAST) }] }])
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'order_book', arguments: book } }
    const accept = { accept: 'application/json, text/event-stream' }
    const inHeader = await fetch(...post('/mcp', body, { 'payment-signature': 'eyJ9', ...accept }))
    expect([inHeader.status, await inHeader.text()]).toEqual([200, expect.stringContaining('accepts')])
    const payment = await payFor(client, wallets[4]!, 'info', gone)
    await misbehave({ how: '500', types: ['userFees'] })
    const earned = await earnedBy(async () => {
      const failed = await call(client, 'info', gone, payment)
      expect([failed.isError, failed.structuredContent]).toMatchObject([true, { error: { status: 502 } }])
    })
    expect(earned).toBe(0n)
    await misbehave({ how: 'none' })
    expect((await call(client, 'info', gone, payment)).isError ?? false).toBe(false)
    await client.close()
  })

  it('with a key is paid by its credits, whatever else it has', async () => {
    const open = await mcp()
    const payment = await payFor(open, wallets[4]!, 'order_book', book)
    const client = await mcp({ authorization: `Bearer ${exchange.key}` })
    const earned = await earnedBy(async () => {
      const { structuredContent } = await call(client, 'order_book', book, payment)
      expect(structuredContent).toMatchObject({ credits_cost: '1' })
    })
    expect(earned).toBe(0n)
    for (const each of [open, client]) await each.close()
  })
})

describe('a facilitator', () => {
  /** Repeats a request with its payment until it is answered. */
  const repeated = (header: Record<string, string>) =>
    vi.waitFor(async () => {
      const answer = await fetch(...post('/info', BOOK, header))
      expect(answer.status).toBe(200)
      return answer
    }, WAIT)

  it.each([
    ['that is down', { how: 'unavailable' }],
    ['whose answer is lost', { how: 'refuse' }],
    ['that settles and says that it failed', { how: 'deny' }],
    ['that settles twice', { how: 'twice' }],
    ['that hangs', { how: 'hang', for_ms: 3_000 }],
    ['that answers with garbage', { how: 'garbage' }],
  ])('%s costs the wallet one payment, for one answer', async (_, fault) => {
    await misbehave({ ...fault, types: ['x402:settle'], times: 1 })
    const earned = await earnedBy(async () => {
      const { answer, header } = await pay(wallets[2]!, '/info', BOOK)
      if (answer.ok) return
      expect([502, 503]).toContain(answer.status)
      expect((await repeated(header)).ok).toBe(true)
    })
    expect(earned).toBe(LEAST)
    await misbehave({ how: 'none' })
  })

  it('that lies about a settlement brings no answer, until the chain shows the transfer', async () => {
    await misbehave({ how: 'skip', types: ['x402:settle'], for_ms: 60_000 })
    const lied = await pay(wallets[2]!, '/info', BOOK)
    expect([lied.answer.ok, (await fetch(...post('/info', BOOK, lied.header))).ok]).toEqual([false, false])
    const earned = await earnedBy(async () => {
      await misbehave({ how: 'none' })
      await repeated(lied.header)
    })
    expect(earned).toBe(LEAST)
  })
})

describe('credits', () => {
  interface Bought {
    readonly credits: string
    readonly key: string | null
  }
  const buy = async (usd: number) => {
    const answer = await payingFetch(wallets[3]!)(...post(`/x402/credits?usd=${usd}`, ''))
    expect(answer.status).toBe(201)
    return (await answer.json()) as Bought
  }
  const signIn = async (change: object = {}) => {
    const message = createSiweMessage({
      address: wallets[3]!.address,
      chainId: CHAIN_ID,
      domain: new URL(exchange.gateway.url).host,
      issuedAt: new Date(),
      nonce: generateSiweNonce(),
      uri: exchange.gateway.url,
      version: '1',
      ...change,
    })
    return { message, signature: await wallets[3]!.signMessage({ message }) }
  }
  const keyFor = async (body: object) => {
    const answer = await fetch(...post('/x402/key', body))
    return { status: answer.status, body: (await answer.json()) as { key?: string } }
  }
  const infoStatus = async (key: string) => (await exchange.gateway.info(key, BOOK)).status

  it('mint a key that opens every surface, and rotation replaces it', async () => {
    expect((await keyFor(await signIn())).status).toBe(404)
    let first: Bought | undefined
    expect(
      await earnedBy(async () => {
        first = await buy(5)
      }),
    ).toBe(5_000_000n)
    expect(Number(first?.credits)).toBe(5_000)
    expect(first?.key).toMatch(/^cqt_/)
    await vi.waitFor(async () => expect(await infoStatus(first!.key!)).toBe(200), WAIT)
    expect((await buy(1)).key).toBeNull()

    const signed = await signIn()
    const rotated = await keyFor(signed)
    expect([rotated.status, rotated.body.key]).toEqual([expect.any(Number), expect.stringMatching(/^cqt_/)])
    expect(await infoStatus(rotated.body.key!)).toBe(200)
    // Isolates learn of it within seconds.
    await vi.waitFor(async () => expect(await infoStatus(first!.key!)).toBe(401), { ...WAIT, timeout: 60_000 })
    for (const refused of [
      signed,
      { ...signed, signature: `0x${'1b'.repeat(65)}` },
      await signIn({ domain: 'elsewhere.example' }),
      await signIn({ issuedAt: new Date(Date.now() - 600_000) }),
    ])
      expect((await keyFor(refused)).status).toBeGreaterThanOrEqual(400)
  })
})

it('payments on the chain are the orders in the books', async () => {
  const isBooked = async () => {
    const orders = await paidOrders(exchange.gateway)
    const inOrder = (amounts: readonly bigint[]) => [...amounts].sort((a, b) => Number(a - b))
    expect(inOrder(orders.map(({ minor }) => minor))).toEqual(
      inOrder((await chain.payments()).map(({ value }) => value)),
    )
  }
  await vi.waitFor(isBooked, { ...WAIT, timeout: 60_000 })
})
