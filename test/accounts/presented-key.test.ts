import { describe, expect, it, vi } from 'vitest'
import { type KeyLocation, missingKey, presentedKey } from '../../src/accounts/presented-key.ts'
import { failureMessage } from '../../src/core/failure.ts'
import { checkBearerSecret, constantTimeEqual } from '../../src/core/secret.ts'
import { infoFailure } from '../../src/protocol/failure-wire.ts'

const none = { authorization: null, query: [], path: null }
const ok = (value: string) => ({ ok: true, value })
const refused = (kind: string) => ({ ok: false, error: { kind } })

describe('presented key', () => {
  it('is found in the locations a surface accepts, in order', () => {
    expect(presentedKey({ ...none, authorization: 'Bearer k1' }, ['bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, authorization: 'bearer  k1' }, ['bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, query: ['k1'] }, ['query', 'bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, authorization: 'Bearer k2', query: ['k1'] }, ['query', 'bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, query: ['k1'] }, ['bearer'])).toEqual(refused('key_missing'))
    expect(presentedKey({ ...none, path: 'k1' }, ['bearer', 'path'])).toEqual(ok('k1'))
    const basic = `Basic ${btoa('k1:')}`
    expect(presentedKey({ ...none, authorization: basic }, ['basic'])).toEqual(ok('k1'))
  })

  it('distinguishes missing from malformed', () => {
    expect(presentedKey(none, ['bearer', 'query', 'path', 'basic'])).toEqual(refused('key_missing'))
    expect(presentedKey({ ...none, query: [''] }, ['query'])).toEqual(refused('key_missing'))
    for (const authorization of ['Bearer', 'Bearer ', 'k1', `Basic ${btoa('k1:')}`]) {
      expect(presentedKey({ ...none, authorization }, ['bearer'])).toMatchObject(refused('key_malformed'))
    }
    expect(presentedKey({ ...none, query: ['a', 'b'] }, ['query'])).toMatchObject(refused('key_malformed'))
    for (const credentials of ['!!!', '', btoa('k1'), btoa(':x')]) {
      const authorization = `Basic ${credentials}`
      expect(presentedKey({ ...none, authorization }, ['basic', 'bearer'])).toMatchObject({
        error: { kind: 'key_malformed', hint: expect.stringContaining('basic credentials are malformed') },
      })
    }
  })

  it('keeps whitespace of ?key= for the key format to reject', () => {
    expect(presentedKey({ ...none, query: ['k1 '] }, ['query'])).toEqual(ok('k1 '))
  })
})

describe('a key in an unsupported location', () => {
  const KEY = `cqt_${'Canary'.repeat(4)}22`
  const told = (url: string, headers: Record<string, string>, places: readonly KeyLocation[] = ['bearer']) => {
    const authorization = headers.authorization ?? null
    const parameters = [...new URL(url, 'http://weir').searchParams.keys()]
    const presented = presentedKey({ ...none, authorization }, places)
    if (presented.ok) return 'ok'
    const failure =
      presented.error.kind === 'key_missing'
        ? missingKey({ headers: new Headers(headers), parameters }, places)
        : presented.error
    const reply = infoFailure(failure, 'r')
    expect([reply.status, reply.body.includes('Canary')]).toEqual([401, false])
    return failureMessage(failure)
  }
  it.each([
    ['/info', { 'X-API-Key': KEY }, /header x-api-key .*Bearer <key>/],
    ['/info', { authorization: KEY }, /missing the word "Bearer"/],
    ['/info', { authorization: `Basic ${btoa(KEY)}` }, /scheme "Basic"/],
    ['/info', { authorization: `Token ${KEY}` }, /scheme "Bearer"/],
    ['/info', { authorization: 'Bearer ' }, /no key after "Bearer"/],
    [`/info?api_key=${KEY}`, {}, /\?api_key= of this URL .*Bearer <key>/],
    [`/info?key=${KEY}`, {}, /\?key= of this URL .*Bearer <key>/],
  ])('%s %j', (url, headers, said) => {
    expect(told(url, headers as Record<string, string>)).toMatch(said)
  })

  it('lists every location the surface accepts, whatever was sent', () => {
    const socket = ['query', 'bearer'] as const
    expect(told(`/ws?apiKey=${KEY}`, {}, socket)).toMatch(/\?apikey= of .* as \?key=<key> in the URL, or as .*Bearer/)
    const data = ['basic', 'bearer'] as const
    for (const [url, headers] of [
      ['/v1', {}],
      ['/v1?key=x', {}],
      ['/v1', { authorization: KEY }],
    ] as const)
      expect(told(url, headers, data)).toMatch(/basic credentials .*or (as )?"Authorization: Bearer <key>"/)
  })

  it('gets no hint about input that is not a known key location', () => {
    const missing = failureMessage({ kind: 'key_missing' })
    expect([told(`/info?${KEY}=1`, {}), told('/ws?key=', {}, ['query', 'bearer'])]).toEqual([missing, missing])
  })
})

describe('operator secrets', () => {
  const secret = 's'.repeat(32)
  it('are compared in full', () => {
    expect(constantTimeEqual('abc', 'abc')).toBe(true)
    for (const other of ['', 'ab', 'abd', 'abca', 'abcabc', 'ABC']) expect(constantTimeEqual(other, 'abc')).toBe(false)
    expect(constantTimeEqual('', '')).toBe(true)
    expect(constantTimeEqual('a', '')).toBe(false)
  })

  it('are compared with the same work, wherever the first difference is', () => {
    const encoder = new TextEncoder()
    const encode = encoder.encode.bind(encoder) as (text?: string) => Uint8Array<ArrayBuffer>
    let reads = 0
    const spy = vi.spyOn(TextEncoder.prototype, 'encode').mockImplementation((text) => {
      const get = (bytes: Uint8Array<ArrayBuffer>, name: string | symbol) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads++
        return Reflect.get(bytes, name)
      }
      return new Proxy(encode(text), { get })
    })
    const work = [`x${secret.slice(1)}`, `${secret.slice(0, -1)}x`, 'x'.repeat(32), secret].map((token) => {
      reads = 0
      checkBearerSecret(`Bearer ${token}`, secret)
      return reads
    })
    spy.mockRestore()
    expect(work).toEqual([64, 64, 64, 64])
  })

  it('close a surface whose secret is unset or short', () => {
    expect(checkBearerSecret(`Bearer ${secret}`, undefined)).toBe('closed')
    expect(checkBearerSecret('Bearer short', 'short')).toBe('closed')
    expect(checkBearerSecret(undefined, secret)).toBe('refused')
    expect(checkBearerSecret(secret, secret)).toBe('refused')
    expect(checkBearerSecret(`Bearer ${secret}`, secret)).toBe('granted')
  })
})
