// Transactions with the simulated token: ERC-3009 as wallets sign it, what a node refuses, the file of transactions, and
// x402 payments by the unmodified facilitator and client of @x402/evm.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { x402Client } from '@x402/core/client'
import type { SettleResponse } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import * as fc from 'fast-check'
import { type Address, encodeFunctionData, type Hex, parseAbi, parseSignature, parseTransaction, toHex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest'
import { BookHashOracle } from '../../src/devnet/book-hashes.node.ts'
import { createEngine } from '../../src/devnet/engine.ts'
import { EvmBlocks } from '../../src/devnet/evm/blocks.ts'
import { Ledger } from '../../src/devnet/evm/ledger.ts'
import { handleEvm } from '../../src/devnet/evm/rpc.ts'
import { type EvmNode, fund } from '../../src/devnet/evm/submission.ts'
import { CHAIN_ID, NAME, SELLER, TOKEN, VERSION } from '../../src/devnet/evm/token.ts'
import { openLedger } from '../../src/devnet/evm-journal.node.ts'
import { devnetServer } from '../../src/devnet/http.node.ts'
import { simulatedKey } from '../../src/devnet/simulated-keys.node.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { scratch } from '../kit/program.ts'

const BEGUN_MS = 1_800_000_000_000
const ASSET = TOKEN as Address
const NOBODY: Address = `0x${'0'.repeat(40)}`
const PAYEE: Address = `0x${'ee'.repeat(20)}`
const AUTHORIZATION =
  'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce' as const
const ABI = parseAbi([
  `function transferWithAuthorization(${AUTHORIZATION}, uint8 v, bytes32 r, bytes32 s)`,
  `function transferWithAuthorization(${AUTHORIZATION}, bytes signature)`,
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])
const DOMAIN = { name: NAME, version: VERSION, chainId: CHAIN_ID, verifyingContract: ASSET }
const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

const payer = privateKeyToAccount(simulatedKey(5, 'demo'))
const sender = privateKeyToAccount(simulatedKey(5, 'facilitator'))
const stranger = privateKeyToAccount(`0x${'07'.repeat(32)}`)

/** A chain whose time a test sets, with 100 tokens of `payer`. */
function openChain(ledger = new Ledger()) {
  const origin = { seed: 5, vaults: [{ createdMs: BEGUN_MS }], block: { timeMs: BEGUN_MS } }
  const node: EvmNode = { origin, ledger }
  fund(node, payer.address, 100n)
  const advance = (seconds = 1) => {
    origin.block = { timeMs: origin.block.timeMs + seconds * 1_000 }
  }
  advance()
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked at field by field
  const call = async (method: string, ...params: unknown[]): Promise<any> =>
    JSON.parse(JSON.stringify(await handleEvm(node, { jsonrpc: '2.0', id: 1, method, params })))
  const nonceOf = async (of: Address) => Number((await call('eth_getTransactionCount', of, 'pending')).result)
  const signed = async (data: Hex, more: object = {}, by = sender): Promise<Hex> =>
    by.signTransaction({
      type: 'eip1559',
      chainId: CHAIN_ID,
      to: ASSET,
      data,
      gas: 60_000n,
      maxFeePerGas: 10n ** 8n,
      nonce: await nonceOf(by.address),
      ...more,
    })
  const send = async (data: Hex, more: object = {}, by = sender) =>
    call('eth_sendRawTransaction', await signed(data, more, by))
  const read = async (data: Hex) => BigInt((await call('eth_call', { to: TOKEN, data })).result)
  const balance = (of: Address) => read(encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args: [of] }))
  const isUsed = async (nonce: Hex) =>
    (await read(encodeFunctionData({ abi: ABI, functionName: 'authorizationState', args: [payer.address, nonce] }))) ===
    1n
  return { node, advance, call, signed, send, balance, isUsed }
}

const NONCE = toHex(1n, { size: 32 })
const GOOD = {
  from: payer.address as Address,
  to: PAYEE,
  value: 30n,
  validAfter: 0n,
  validBefore: 2n ** 40n,
  nonce: NONCE,
}

async function authorized(
  change: Partial<typeof GOOD> = {},
  { by = payer, domain = DOMAIN, form = 'vrs' }: { by?: PrivateKeyAccount; domain?: object; form?: string } = {},
): Promise<Hex> {
  const message = { ...GOOD, ...change }
  const types = { TransferWithAuthorization: TRANSFER }
  const signature = await by.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message })
  const args = [
    message.from,
    message.to,
    message.value,
    message.validAfter,
    message.validBefore,
    message.nonce,
  ] as const
  const functionName = 'transferWithAuthorization'
  if (form === 'bytes') return encodeFunctionData({ abi: ABI, functionName, args: [...args, signature] })
  const { r, s, v } = parseSignature(signature)
  return encodeFunctionData({ abi: ABI, functionName, args: [...args, Number(v), r, s] })
}

describe('the token', () => {
  it.each(['vrs', 'bytes'])('moves an authorized amount in the next block, once (%s)', async (form) => {
    const chain = openChain()
    const data = await authorized({}, { form })
    expect((await chain.call('eth_call', { to: TOKEN, data })).result).toBe('0x')
    expect((await chain.call('eth_estimateGas', { to: TOKEN, data, from: sender.address })).result).toBe('0xc738')
    const { result: hash } = await chain.send(data)
    // Not visible before its block is.
    expect((await chain.call('eth_getTransactionByHash', hash)).result).toMatchObject({ hash, blockNumber: null })
    expect((await chain.call('eth_getTransactionReceipt', hash)).result).toBeNull()
    expect([await chain.balance(PAYEE), await chain.isUsed(NONCE)]).toEqual([0n, false])
    chain.advance()
    const { result: receipt } = await chain.call('eth_getTransactionReceipt', hash)
    expect(receipt).toMatchObject({ status: '0x1', blockNumber: '0x2', from: sender.address.toLowerCase(), to: TOKEN })
    expect(receipt.logs.map(({ topics }: { topics: string[] }) => topics[0]!.slice(0, 10))).toEqual([
      '0x98de5035',
      '0xddf252ad',
    ])
    expect([await chain.balance(PAYEE), await chain.balance(payer.address)]).toEqual([30n, 70n])
    expect(await chain.isUsed(NONCE)).toBe(true)
    for (const again of [
      await chain.call('eth_call', { to: TOKEN, data }),
      await chain.call('eth_estimateGas', { to: TOKEN, data }),
    ])
      expect(again.error).toMatchObject({
        code: 3,
        message: 'execution reverted: FiatTokenV2: authorization is used or canceled',
        data: expect.stringMatching(/^0x08c379a0/),
      })
    const { result: second } = await chain.send(data)
    chain.advance()
    expect((await chain.call('eth_getTransactionReceipt', second)).result).toMatchObject({ status: '0x0', logs: [] })
    expect([await chain.balance(PAYEE), await chain.balance(payer.address)]).toEqual([30n, 70n])
  })

  const refusals: [string, () => Promise<Hex>, string][] = [
    ['a stranger signed', () => authorized({}, { by: stranger }), 'FiatTokenV2: invalid signature'],
    ['another chain', () => authorized({}, { domain: { ...DOMAIN, chainId: 1 } }), 'FiatTokenV2: invalid signature'],
    [
      'another version',
      () => authorized({}, { domain: { ...DOMAIN, version: '2' } }),
      'FiatTokenV2: invalid signature',
    ],
    ['another payer', () => authorized({ from: stranger.address }), 'FiatTokenV2: invalid signature'],
    ['too much', () => authorized({ value: 101n }), 'ERC20: transfer amount exceeds balance'],
    ['nobody is paid', () => authorized({ to: NOBODY }), 'ERC20: transfer to the zero address'],
    ['expired', () => authorized({ validBefore: BigInt(BEGUN_MS / 1_000) }), 'FiatTokenV2: authorization is expired'],
    ['too early', () => authorized({ validAfter: 2n ** 39n }), 'FiatTokenV2: authorization is not yet valid'],
    ['a changed amount', async () => (await authorized()).replace('1e', '1f') as Hex, 'FiatTokenV2: invalid signature'],
    ['half a signature', async () => (await authorized({}, { form: 'bytes' })).slice(0, -130) as Hex, ''],
  ]
  it.each(refusals)('changes nothing when %s', async (_, data, reason) => {
    const chain = openChain()
    const input = await data()
    const { error } = await chain.call('eth_call', { to: TOKEN, data: input })
    expect(error.message).toBe(`execution reverted${reason && `: ${reason}`}`)
    const { result: hash } = await chain.send(input)
    chain.advance()
    expect((await chain.call('eth_getTransactionReceipt', hash)).result).toMatchObject({ status: '0x0', logs: [] })
    expect([await chain.balance(payer.address), await chain.isUsed(NONCE)]).toEqual([100n, false])
  })

  it('rejects malleated signatures', async () => {
    const chain = openChain()
    const data = await authorized()
    const { r, s } = parseSignature(`0x${data.slice(-128)}1b`)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = `${data.slice(0, -128)}${r.slice(2)}${toHex(order - BigInt(s), { size: 32 }).slice(2)}`
    expect((await chain.call('eth_call', { to: TOKEN, data: high })).error.message).toContain("invalid signature 's'")
    const v0 = data.slice(0, -192) + '0'.repeat(64) + data.slice(-128)
    expect((await chain.call('eth_call', { to: TOKEN, data: v0 })).error.message).toContain("invalid signature 'v'")
  })

  it('cancels an authorization', async () => {
    const chain = openChain()
    const types = {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    }
    const message = { authorizer: payer.address, nonce: NONCE }
    const signature = await payer.signTypedData({ domain: DOMAIN, types, primaryType: 'CancelAuthorization', message })
    const { r, s, v } = parseSignature(signature)
    const args = [payer.address, NONCE, Number(v), r, s] as const
    const { result: hash } = await chain.send(
      encodeFunctionData({ abi: ABI, functionName: 'cancelAuthorization', args }),
    )
    chain.advance()
    const { result: receipt } = await chain.call('eth_getTransactionReceipt', hash)
    expect(receipt.logs).toMatchObject([
      {
        topics: [/^0x1cdd46ff/, `0x${payer.address.slice(2).toLowerCase().padStart(64, '0')}`, NONCE].map((topic) =>
          typeof topic === 'string' ? topic : expect.stringMatching(topic),
        ),
      },
    ])
    expect(await chain.isUsed(NONCE)).toBe(true)
    const late = await chain.call('eth_call', { to: TOKEN, data: await authorized() })
    expect(late.error.message).toContain('used or canceled')
  })
})

describe('the node', () => {
  const DATA = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [PAYEE, 1n] })

  it.each([
    ['another chain', { chainId: 1 }, /^invalid chain id: have 1, want 999$/],
    ['another contract', { to: PAYEE }, /^only calls of the token/],
    ['a value', { value: 1n }, /^only calls of the token/],
    ['little gas', { gas: 50_999n }, /^intrinsic gas too low/],
    ['a low fee', { maxFeePerGas: 99_999_999n }, /^max fee per gas less than block base fee/],
    ['a later nonce', { nonce: 1 }, /^nonce too high: next nonce 0/],
    [
      'an old form',
      { type: 'legacy', maxFeePerGas: undefined, gasPrice: 10n ** 8n },
      /^not a signed EIP-1559 transaction$/,
    ],
  ])('refuses a transaction with %s', async (_, change, message) => {
    const chain = openChain()
    expect((await chain.send(DATA, change)).error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(message),
    })
  })

  it('takes a transaction once, and each nonce once', async () => {
    const chain = openChain()
    const raw = await chain.signed(DATA, {}, payer)
    const { result: hash } = await chain.call('eth_sendRawTransaction', raw)
    expect((await chain.call('eth_sendRawTransaction', raw)).error.message).toBe('already known')
    expect((await chain.send(DATA, { nonce: 0, gas: 70_000n }, payer)).error.message).toMatch(/^nonce too low/)
    for (const garbage of ['0x', '0x02', '0x02c0', `${raw}00`, raw.slice(0, -2)])
      expect((await chain.call('eth_sendRawTransaction', garbage)).error.code).toBe(-32000)
    chain.advance()
    const { result: shown } = await chain.call('eth_getTransactionByHash', hash)
    const { r, s, gas } = parseTransaction(raw)
    expect(shown).toMatchObject({
      hash,
      from: payer.address.toLowerCase(),
      nonce: '0x0',
      input: DATA,
      r,
      s,
      gas: toHex(gas!),
    })
    expect(Number((await chain.call('eth_getTransactionCount', payer.address, 'latest')).result)).toBe(1)
    expect(await chain.balance(PAYEE)).toBe(1n)
  })

  it('keeps every visible block, and balances that add up, whatever is submitted', async () => {
    const step = fc.record({
      value: fc.bigInt(0n, 60n),
      from: fc.constantFrom('payer', 'sender'),
      to: fc.constantFrom(PAYEE, sender.address, payer.address),
      seconds: fc.integer({ min: 0, max: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const chain = openChain()
        const seen: string[] = []
        const blocks = () => new EvmBlocks(chain.node.origin, chain.node.ledger)
        const shown = (number: number) =>
          JSON.stringify([blocks().block(number, true), [...blocks().logs(number, number)]], (_, value) =>
            typeof value === 'bigint' ? String(value) : value,
          )
        for (const { value, from, to, seconds } of steps) {
          const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [to, value] })
          expect((await chain.send(data, {}, from === 'payer' ? payer : sender)).error).toBeUndefined()
          chain.advance(seconds)
          for (let number = 0; number <= blocks().head; number++) {
            seen[number] ??= shown(number)
            expect(shown(number)).toBe(seen[number])
          }
        }
        chain.advance()
        const held = new Map<string, bigint>()
        for (const { topics, data } of blocks().logs(0, blocks().head)) {
          const [from, to] = topics.slice(1).map((topic) => `0x${topic.slice(26)}`)
          held.set(from!, (held.get(from!) ?? 0n) - BigInt(data))
          held.set(to!, (held.get(to!) ?? 0n) + BigInt(data))
        }
        for (const wallet of [payer.address, sender.address, PAYEE]) {
          expect(await chain.balance(wallet)).toBe(held.get(wallet.toLowerCase()) ?? 0n)
          expect(await chain.balance(wallet)).toBeGreaterThanOrEqual(0n)
        }
        expect(blocks().supply(blocks().head)).toBe(-held.get(NOBODY)!)
      }),
      { numRuns: 25 },
    )
  })
})

test('the file of transactions survives a kill in the middle of a line', async () => {
  const { path: folder, remove } = scratch()
  const path = join(folder, 'transactions')
  const chain = openChain(openLedger(path))
  const { result: hash } = await chain.send(await authorized())
  const text = readFileSync(path, 'utf8')
  appendFileSync(path, text.slice(0, 50))
  const again = openChain(openLedger(path))
  expect(readFileSync(path, 'utf8')).toBe(text)
  chain.advance()
  again.advance()
  const receipt = await again.call('eth_getTransactionReceipt', hash)
  expect(receipt.result.status).toBe('0x1')
  expect(receipt).toEqual(await chain.call('eth_getTransactionReceipt', hash))
  expect([await again.balance(PAYEE), await again.balance(payer.address)]).toEqual([30n, 70n])
  writeFileSync(path, `{}\n${text}`)
  expect(() => openLedger(path)).toThrow(/has a line that is not a transaction/)
  remove()
})

describe('the facilitator', () => {
  const engine = createEngine(5)
  const ledger = new Ledger()
  const nowNs = () => BigInt(Date.now()) * 1_000_000n
  let aheadS = 0n
  /** Makes the next block of the EVM. */
  const advance = () => engine.step(nowNs() + ++aheadS * 1_000_000_000n)
  let server: HttpServer
  beforeAll(async () => {
    engine.step(nowNs() - 60_000_000_000n)
    engine.step(nowNs())
    fund({ origin: engine.exchange, ledger }, payer.address, 1_000_000n)
    advance()
    const state = { engine, ledger, truth: new BookHashOracle(), disturb: () => {}, data: '/' }
    server = await startServer(devnetServer(() => state))
  })
  afterAll(() => server.close())

  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    return fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  const requirements = {
    scheme: 'exact',
    network: `eip155:${CHAIN_ID}` as const,
    asset: TOKEN,
    amount: '5000',
    payTo: SELLER,
    maxTimeoutSeconds: 600,
    extra: { name: NAME, version: VERSION },
  }
  const pay = async (change: Partial<typeof requirements> = {}, account = payer) => {
    const paymentRequirements = { ...requirements, ...change }
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account)).setSpendControls(false)
    const resource = { url: 'http://127.0.0.1/info' }
    const paymentPayload = await client.createPaymentPayload({
      x402Version: 2,
      resource,
      accepts: [paymentRequirements],
    })
    return { x402Version: 2, paymentPayload, paymentRequirements }
  }
  const verify = async (body: unknown) => (await post('/facilitator/verify', body)).json()
  /** Settles while the chain goes on. */
  const settle = async (body: unknown): Promise<Response> => {
    const before = ledger.lastBlock
    const answer = post('/facilitator/settle', body)
    const isOver = await Promise.race([
      answer.then(() => true),
      vi.waitFor(() => expect(ledger.lastBlock).toBeGreaterThan(before), 5_000).then(() => false),
    ])
    if (!isOver) advance()
    return answer
  }
  const paid = () => new EvmBlocks(engine.exchange, ledger).balance(SELLER, 1e9)

  it('verifies and settles a payment, once', async () => {
    const supported = (await (await fetch(`${server.url}/facilitator/supported`)).json()) as { kinds: unknown }
    expect(supported.kinds).toEqual([{ x402Version: 2, scheme: 'exact', network: 'eip155:999' }])
    const payment = await pay()
    expect(await verify(payment)).toEqual({ isValid: true, payer: payer.address })
    const before = paid()
    const settled = (await (await settle(payment)).json()) as SettleResponse
    expect(settled).toMatchObject({ success: true, network: 'eip155:999', payer: payer.address })
    expect(ledger.find(settled.transaction)).not.toBeNull()
    expect(paid() - before).toBe(5000n)
    expect(await verify(payment)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_exact_evm_nonce_already_used',
    })
    expect(await (await settle(payment)).json()).toMatchObject({ success: false })
    expect(paid() - before).toBe(5000n)
  })

  it('says why a payment is not valid', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey())
    expect(await verify(await pay({}, stranger))).toMatchObject({
      invalidReason: 'invalid_exact_evm_insufficient_balance',
    })
    const { paymentPayload, ...rest } = await pay()
    const other = { ...rest, paymentRequirements: { ...requirements, amount: '6000' }, paymentPayload }
    expect(await verify(other)).toMatchObject({ isValid: false })
    for (const body of [{}, [], null, { paymentPayload }]) {
      const answer = await post('/facilitator/settle', body)
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(/^payment\w+: /)])
    }
    expect((await fetch(`${server.url}/facilitator/settle`)).status).toBe(405)
  })

  it('settles payments of one moment one after the other', async () => {
    const before = paid()
    const payments = await Promise.all([pay(), pay(), pay()])
    const answers = payments.map((payment) => post('/facilitator/settle', payment))
    await vi.waitFor(() => expect(paid() - before).toBe(15_000n), 5_000)
    advance()
    for (const answer of answers) expect(await (await answer).json()).toMatchObject({ success: true })
  })

  it.each([
    ['unavailable', 503, null, 0n],
    ['skip', 200, { success: true }, 0n],
    ['deny', 200, { success: false }, 5000n],
    ['twice', 200, { success: false }, 5000n],
    ['500', 500, null, 5000n],
    ['lag', 200, { success: true }, 5000n],
  ])('misbehaves on demand: %s', async (how, status, body, moved) => {
    const before = paid()
    const fault = { how, types: ['x402:settle'], times: 1, by_ms: 1 }
    expect((await post('/misbehave', fault)).status).toBe(200)
    const payment = await pay()
    expect(await verify(payment)).toMatchObject({ isValid: true })
    const answer = await settle(payment)
    expect(answer.status).toBe(status)
    if (body !== null) expect(await answer.json()).toMatchObject(body)
    expect(paid() - before).toBe(moved)
  })

  it('has faults of its own', async () => {
    const refused = await post('/misbehave', { how: 'skip', types: ['meta'] })
    expect([refused.status, await refused.text()]).toEqual([
      422,
      'types: must be x402:verify or x402:settle for this fault',
    ])
    expect((await post('/misbehave', { how: 'skip' })).status).toBe(422)
    // Faults of all info types are not for the facilitator.
    await post('/misbehave', { how: '500', for_ms: 60_000 })
    expect(await verify(await pay())).toMatchObject({ isValid: true })
    await post('/misbehave', { how: 'none' })
  })
})
