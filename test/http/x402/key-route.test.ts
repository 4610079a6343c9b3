// Logins of wallets: only the wallet's own, recent and unused text for this host is accepted.

import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { describe, expect, it } from 'vitest'
import { AddressLimiter, WALLET_KEYS } from '../../../src/accounts/address-limiter.ts'
import { walletAccount } from '../../../src/billing/x402/booking.ts'
import { readLogin } from '../../../src/billing/x402/login.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { walletKeyRoutes } from '../../../src/http/x402/key.route.ts'

const NOW_MS = Date.UTC(2026, 10, 30, 12)
const HOST = 'api.example.com'
const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const ACCOUNT = walletAccount(wallet.address)

const textOf = (over: Partial<Parameters<typeof createSiweMessage>[0]> = {}) =>
  createSiweMessage({
    address: wallet.address,
    chainId: 8453,
    domain: HOST,
    nonce: 'a1b2c3d4e5f6',
    uri: `https://${HOST}/x402/key`,
    version: '1',
    issuedAt: new Date(NOW_MS),
    ...over,
  })

/** A gateway that remembers nonces, and counts the keys that it issued. */
function gateway({ publicUrl = '', accounts = [ACCOUNT] }: { publicUrl?: string; accounts?: readonly string[] } = {}) {
  const used = new Map<string, number>()
  const issued: string[] = []
  const app = walletKeyRoutes({
    networks: ['eip155:8453', 'eip155:999'],
    publicUrl,
    accounts: {
      missingFailure: async (id) => (accounts.includes(id) ? null : { kind: 'not_found', what: 'This account' }),
    },
    issueKey: async (account, how, kind) => {
      issued.push(`${account} ${how} ${kind}`)
      return { key: 'cqt_new', hash: keyHashOf('hash'), prefix: 'cqt_', label: 'x402' }
    },
    useNonce: async ({ network, address, nonce, untilMs }) => {
      const name = `${network} ${address} ${nonce}`
      if (used.has(name)) return false
      used.set(name, untilMs)
      return true
    },
    gate: new AddressLimiter(WALLET_KEYS),
    addressOf: () => '192.0.2.1',
    requestId: () => 'req_1',
    now: () => NOW_MS,
  })
  const post = async (body: unknown, host = HOST, type = 'application/json') => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    const headers = { 'content-type': type }
    const response = await app.request(`https://${host}/x402/key`, { method: 'POST', headers, body: sent })
    const json = (await response.json()) as Record<string, unknown>
    return { status: response.status, json, said: json.msg, headers: response.headers }
  }
  const login = async (message: string, signer = wallet, host?: string) =>
    post({ message, signature: await signer.signMessage({ message }) }, host)
  return { post, login, issued, used }
}

describe('POST /x402/key', () => {
  it('gives the wallet a new key for its account, once per text', async () => {
    const { login, issued, used } = gateway()
    const first = await login(textOf())
    expect([first.status, first.json]).toEqual([
      201,
      { account: ACCOUNT, key: 'cqt_new', hash: 'hash', prefix: 'cqt_', label: 'x402' },
    ])
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(await login(textOf())).toMatchObject({ status: 422, said: expect.stringContaining('used already') })
    expect(await login(textOf({ nonce: 'another12345', chainId: 999 }))).toMatchObject({ status: 201 })
    expect(issued).toEqual([`${ACCOUNT} rotate api`, `${ACCOUNT} rotate api`])
    // Remembered for longer than the text is accepted.
    expect([...used.values()]).toEqual([NOW_MS + 600_000, NOW_MS + 600_000])
  })

  it('gives a service key to a wallet that asks for one', async () => {
    const { post, issued } = gateway()
    const message = textOf()
    const signature = await wallet.signMessage({ message })
    expect((await post({ message, signature, kind: 'service' })).status).toBe(201)
    expect(issued).toEqual([`${ACCOUNT} rotate service`])
    expect((await post({ message, signature, kind: 'admin' })).said).toContain('kind: ')
  })

  it('accepts a text for the public host only, whatever host the request names', async () => {
    const { login } = gateway({ publicUrl: 'https://api.example.com' })
    expect((await login(textOf(), wallet, 'internal.example.net')).status).toBe(201)
    const evil = textOf({ domain: 'evil.example', uri: 'https://evil.example/' })
    expect((await login(evil, wallet, 'evil.example')).said).toBe(
      `message: must have the domain ${HOST} and a URI of it`,
    )
  })

  it.each([
    ['another host', textOf({ domain: 'evil.example' }), 'must have the domain'],
    ['a URI of another host', textOf({ uri: 'https://evil.example/' }), 'a URI of it'],
    ['another chain', textOf({ chainId: 1 }), 'eip155:8453, eip155:999'],
    ['an old text', textOf({ issuedAt: new Date(NOW_MS - 300_001) }), 'last five minutes'],
    ['a text of the future', textOf({ issuedAt: new Date(NOW_MS + 300_001) }), 'last five minutes'],
    ['an expired text', textOf({ expirationTime: new Date(NOW_MS - 1) }), 'valid now'],
    ['a text that is not valid yet', textOf({ notBefore: new Date(NOW_MS + 1) }), 'valid now'],
    ['an odd time', textOf().replace(/Issued At: .*/, 'Issued At: today'), 'last five minutes'],
    ['a short nonce', textOf().replace('a1b2c3d4e5f6', 'a1b2'), 'valid now'],
    ['a long nonce', textOf({ nonce: 'a'.repeat(97) }), 'valid now'],
    ['another text', 'I am the wallet', 'EIP-4361'],
    ['a text without a nonce', textOf().replace(/Nonce: .*\n/, ''), 'EIP-4361'],
  ])('refuses %s', async (_, message, said) => {
    const { login, issued, used } = gateway()
    expect(await login(message)).toMatchObject({ status: 422, said: expect.stringContaining(said) })
    expect([issued, used.size]).toEqual([[], 0])
  })

  it('refuses the signature of another wallet, of another text and of nobody', async () => {
    const { post, login, issued, used } = gateway()
    expect((await login(textOf(), stranger)).status).toBe(403)
    const signature = await wallet.signMessage({ message: textOf({ nonce: 'another12345' }) })
    expect((await post({ message: textOf(), signature })).status).toBe(403)
    expect((await post({ message: textOf(), signature: `0x${'00'.repeat(65)}` })).status).toBe(403)
    expect([issued, used.size]).toEqual([[], 0])
  })

  it('knows only wallets that have paid, and uses no nonce of others', async () => {
    const { login, used } = gateway()
    const message = textOf({ address: stranger.address })
    expect(await login(message, stranger)).toMatchObject({ status: 404, said: expect.stringContaining('has not paid') })
    expect(used.size).toBe(0)
  })

  it('names what is wrong with a body, and limits each address', async () => {
    const { post } = gateway()
    const signature = `0x${'00'.repeat(65)}`
    expect((await post('{}', HOST, 'text/plain')).status).toBe(415)
    expect((await post('{')).status).toBe(400)
    expect((await post({ message: '', signature })).said).toContain('message: ')
    expect((await post({ message: textOf(), signature: '0x12' })).said).toContain('signature: must be "0x" and 130')
    expect((await post({ message: textOf(), signature, key: 1 })).said).toContain('key: ')
    expect((await post({ message: 'x'.repeat(9_000), signature })).status).toBe(413)
    for (let i = 6; i < WALLET_KEYS.each.quota; i++) await post('{')
    expect((await post('{')).status).toBe(429)
  })
})

it('a login never throws, and is accepted for less than its nonce is remembered', () => {
  const networks = ['eip155:8453']
  const times = fc.record({ issuedMs: fc.integer({ min: 0, max: 4e12 }), nowMs: fc.integer({ min: 0, max: 4e12 }) })
  const near = fc.record({ issuedMs: fc.integer({ min: NOW_MS - 4e5, max: NOW_MS + 4e5 }), nowMs: fc.constant(NOW_MS) })
  fc.assert(
    fc.property(fc.oneof(times, near), ({ issuedMs, nowMs }) => {
      const read = readLogin(textOf({ issuedAt: new Date(issuedMs) }), { host: HOST, networks, nowMs })
      expect(read.ok).toBe(Math.abs(issuedMs - nowMs) <= 300_000)
      if (read.ok) expect(read.value.untilMs).toBeGreaterThanOrEqual(nowMs + 300_000)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(400), (noise, at) => {
      const text = textOf()
      readLogin(text.slice(0, at) + noise + text.slice(at), { host: HOST, networks, nowMs: NOW_MS })
    }),
  )
})
