// Answers of facilitators and nodes over real HTTP, and what is known after each.

import { text } from 'node:stream/consumers'
import { encodeEventTopics, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lookAtChain, TOPICS } from '../../../src/billing/x402/chain.client.ts'
import { facilitatorAt } from '../../../src/billing/x402/facilitator.client.ts'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { orderOf } from './payment-world.ts'

const ORDER = orderOf(1, 'x')
const { authorization, requirement } = ORDER
const TRANSACTION = `0x${'F0'.repeat(32)}`
const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

interface Received {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: { method: string; params: { fromBlock?: string }[] }
}
let server: HttpServer
let received: Received[] = []
let answer: (request: Received) => { status?: number; headers?: Record<string, string>; body: unknown }

beforeAll(async () => {
  server = await startServer(async (request, response) => {
    const seen = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(await text(request)),
    }
    received.push(seen)
    const { status = 200, headers = {}, body } = answer(seen)
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
})
afterAll(() => server.close())

describe('a facilitator', () => {
  const facilitator = () => facilitatorAt(server.url, 'token')

  it('gets the payment in the form of x402, with the token', async () => {
    received = []
    answer = () => ({ body: { isValid: true, payer: authorization.from } })
    expect(await facilitator().verify(ORDER)).toEqual({ kind: 'valid' })
    expect(received).toMatchObject([
      {
        path: '/verify',
        authorization: 'Bearer token',
        body: {
          x402Version: 2,
          paymentRequirements: requirement,
          paymentPayload: {
            x402Version: 2,
            accepted: requirement,
            payload: { authorization, signature: ORDER.signature },
          },
        },
      },
    ])
  })

  it.each([
    [200, 'invalid_exact_evm_nonce_already_used', { kind: 'used' }],
    [200, 'invalid_exact_evm_insufficient_balance', { kind: 'invalid', why: 'invalid_exact_evm_insufficient_balance' }],
    [400, 'invalid_exact_evm_signature', { kind: 'invalid', why: 'invalid_exact_evm_signature' }],
    [200, undefined, { kind: 'invalid', why: 'no reason given' }],
    [200, 'a\u0007"quote"', { kind: 'invalid', why: 'no reason given' }],
  ])('refuses with status %i and the reason %s', async (status, invalidReason, verdict) => {
    answer = () => ({ status, body: { isValid: false, invalidReason } })
    expect(await facilitator().verify(ORDER)).toEqual(verdict)
  })

  it.each([
    [200, { success: true, transaction: TRANSACTION }, { kind: 'settled', transaction: TRANSACTION.toLowerCase() }],
    [200, { success: true, transaction: 'soon' }, { kind: 'unknown' }],
    [200, { success: false, errorReason: 'settlement_pending', transaction: TRANSACTION }, { kind: 'unknown' }],
    [200, { success: false, errorReason: 'settle_exact_evm_transaction_confirmation_timed_out' }, { kind: 'unknown' }],
    [200, { success: false, errorReason: 'unexpected_settle_error' }, { kind: 'unknown' }],
    [200, { success: false, errorReason: 'invalid_exact_evm_nonce_already_used' }, { kind: 'used' }],
    [200, { success: false, errorReason: 'insufficient_funds' }, { kind: 'failed', why: 'insufficient_funds' }],
    [402, { success: false, errorReason: 'insufficient_funds' }, { kind: 'failed', why: 'insufficient_funds' }],
  ])('settles with status %i and %j', async (status, body, outcome) => {
    answer = () => ({ status, body })
    expect(await facilitator().settle(ORDER)).toEqual(outcome)
  })

  it.each([
    ['a redirect', { status: 307, headers: { location: '/elsewhere' }, body: '' }],
    ['an error of the server', { status: 500, body: { success: false, errorReason: 'x' } }],
    ['a rate limit', { status: 429, body: { success: false, errorReason: 'x' } }],
    ['another form', { body: { success: 'yes' } }],
    ['an error without the form', { status: 401, body: { error: 'unauthorized' } }],
    ['HTML', { body: '<html>' }],
    ['10 MB', { body: 'x'.repeat(10_000_000) }],
  ])('says nothing with %s', async (_, reply) => {
    received = []
    answer = () => reply
    await expect(facilitator().settle(ORDER)).rejects.toThrow(/^the facilitator/)
    expect(received.map(({ path }) => path)).toEqual(['/settle'])
  })
})

describe('a node', () => {
  const { asset, payTo } = requirement
  const used = {
    address: asset,
    topics: [TOPICS.used, padded(authorization.from), authorization.nonce],
    data: '0x',
    transactionHash: TRANSACTION,
  }
  const transfer = { ...used, topics: [TOPICS.transfer, padded(authorization.from), padded(payTo)], data: '0x1388' }
  const otherUse = { ...used, topics: [TOPICS.used, used.topics[1], `0x${'9'.repeat(64)}`] }
  const toItself = { ...transfer, topics: [...transfer.topics.slice(0, 2), padded(authorization.from)], data: '0x0' }
  const NOT_USED = `0x${'0'.repeat(64)}`
  const chain = (logs: unknown, receipt: unknown, head = '0x5000', state: unknown = NOT_USED) => {
    const results: Record<string, unknown> = {
      eth_blockNumber: head,
      eth_getLogs: logs,
      eth_getTransactionReceipt: receipt,
      eth_call: state,
    }
    answer = ({ body }) => ({ body: { jsonrpc: '2.0', id: 1, result: results[body.method] } })
    return lookAtChain(server.url, ORDER)
  }

  it('has the topics of the events', () => {
    const abi = parseAbi([
      'event Transfer(address indexed a, address indexed b, uint256 c)',
      'event AuthorizationUsed(address indexed a, bytes32 indexed b)',
      'event AuthorizationCanceled(address indexed a, bytes32 indexed b)',
    ])
    const topics = abi.map(({ name }) => encodeEventTopics({ abi, eventName: name })[0])
    expect(topics).toEqual([TOPICS.transfer, TOPICS.used, TOPICS.canceled])
  })

  it('shows a payment by its nonce and its transfer', async () => {
    received = []
    expect(await chain([used], { status: '0x1', logs: [used, transfer] })).toEqual({
      kind: 'settled',
      transaction: TRANSACTION.toLowerCase(),
    })
    expect(received[1]?.body.params[0]).toMatchObject({
      address: asset,
      fromBlock: `0x${(0x5000 - 9_999).toString(16)}`,
    })
    expect(await chain([], null, '0x5')).toEqual({ kind: 'unused' })
  })

  it.each([
    ['a cancellation', [{ ...used, topics: [TOPICS.canceled, ...used.topics.slice(1)] }], null],
    ['no transfer', [used], { status: '0x1', logs: [used] }],
    ['no use', [used], { status: '0x1', logs: [transfer] }],
    ['another amount', [used], { status: '0x1', logs: [used, { ...transfer, data: '0x1387' }] }],
    [
      'another receiver',
      [used],
      { status: '0x1', logs: [used, { ...transfer, topics: [...transfer.topics.slice(0, 2), padded(asset)] }] },
    ],
    ['another token', [used], { status: '0x1', logs: [used, { ...transfer, address: payTo }] }],
    ['a reverted transaction', [used], { status: '0x0', logs: [used, transfer] }],
    ['the transfer of another nonce', [used], { status: '0x1', logs: [used, toItself, otherUse, transfer] }],
  ])('shows that the nonce did not pay: %s', async (_, logs, receipt) => {
    expect(await chain(logs, receipt)).toEqual({ kind: 'void' })
  })

  it('finds the transfer of each nonce of a transaction', async () => {
    const logs = [otherUse, toItself, used, transfer]
    expect(await chain([used], { status: '0x1', logs })).toMatchObject({ kind: 'settled' })
  })

  it('does not take a nonce that was used long ago as unused', async () => {
    await expect(chain([], null, '0x5000', `0x${'1'.padStart(64, '0')}`)).rejects.toThrow('used before')
    expect(received.at(-1)?.body).toMatchObject({ method: 'eth_call', params: [{ to: asset }, 'latest'] })
  })

  it('ignores logs of other nonces', async () => {
    expect(await chain([otherUse], null)).toEqual({ kind: 'unused' })
  })

  it.each<[string, unknown, unknown, string?]>([
    ['no list', {}, null],
    ['no receipt yet', [used], null],
    ['damaged logs', [{ ...used, data: 'x' }], null],
    ['no height', [], null, 'x'],
  ])('says nothing with %s', async (_, logs, receipt, head) => {
    await expect(chain(logs, receipt, head)).rejects.toThrow()
  })
})
