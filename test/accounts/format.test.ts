import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashKey, isCheckValid, mintKey } from '../../src/accounts/digest.client.ts'
import { parseKey } from '../../src/accounts/format.ts'
import { KeyCache } from '../../src/accounts/key-cache.ts'
import { admit, KeyRecord, type KeyRequirement } from '../../src/accounts/key-record.ts'
import { randomBase58 } from '../../src/core/base58.ts'
import { keyHashOf } from '../../src/core/ids.ts'

const SECRET = 'an operator secret of forty characters!!'

describe('key format', () => {
  it('generates keys that parse and that only the same secret verifies', async () => {
    for (const kind of ['api', 'service'] as const) {
      const key = await mintKey(kind, SECRET)
      expect(key).toMatch(kind === 'api' ? /^cqt_.{26}$/ : /^cqs_.{26}$/)
      const parsed = parseKey(key)
      if (!parsed.ok) throw new Error(parsed.error)
      expect(parsed.value.kind).toBe(kind)
      expect(await isCheckValid(parsed.value, SECRET)).toBe(true)
      expect(await isCheckValid(parsed.value, `${SECRET}2`)).toBe(false)
    }
  })

  it('detects any changed character', async () => {
    const key = await mintKey('api', SECRET)
    for (let at = 4; at < 30; at++) {
      const other = key[at] === '2' ? '3' : '2'
      const parsed = parseKey(key.slice(0, at) + other + key.slice(at + 1))
      if (!parsed.ok) throw new Error(parsed.error)
      expect(await isCheckValid(parsed.value, SECRET)).toBe(false)
    }
  })

  it.each(['cqt_short', `cqt_${'1'.repeat(27)}`, `cqx_${'1'.repeat(26)}`, `cqt_${'0'.repeat(26)}`])(
    'refuses %j and does not repeat it',
    (text) => expect(parseKey(text)).toEqual({ ok: false, error: expect.not.stringContaining(text) }),
  )

  it.each(['', 'cqt_'])('rejects %j', (text) => expect(parseKey(text).ok).toBe(false))

  it('rejects whitespace, which only ?key= can carry', async () => {
    const key = await mintKey('api', SECRET)
    for (const text of [`${key} `, ` ${key}`, `${key}\n`, `${key}\t`]) {
      const parsed = parseKey(text)
      expect(parsed).toMatchObject({ ok: false, error: expect.stringContaining('whitespace') })
    }
  })

  it('generates all characters about equally often', () => {
    const counts = new Map<string, number>()
    for (const letter of randomBase58(58_000, (bytes) => randomBytes(bytes))) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    expect(counts.size).toBe(58)
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250)
  })

  it('computes a standard SHA-256', async () => {
    expect(await hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

const record: KeyRecord = {
  v: 2,
  hash: keyHashOf('h'),
  account: 'a',
  kind: 'api',
  plan: 'trial',
  ranges: null,
  products: ['info', 'platform'],
  expires: null,
  revoked: null,
  replaced: false,
  at: 0,
}

describe('key admission', () => {
  const INFO = { product: 'info', kind: 'api' } as const
  const enter = (over: Partial<KeyRecord>, entry: KeyRequirement = INFO, address: string | null = null) => {
    const result = admit({ ...record, ...over }, entry, 1_000, address)
    return result.ok ? 'ok' : result.error
  }

  it('distinguishes revoked, expired, wrong kind and wrong product', () => {
    expect(enter({})).toBe('ok')
    expect(enter({ revoked: 5, expires: 5 })).toEqual({ kind: 'key_revoked' })
    expect(enter({ expires: 1_000 })).toEqual({ kind: 'key_expired' })
    expect(enter({ expires: 1_001 })).toBe('ok')
    const notEntitled = { kind: 'not_entitled', why: expect.any(String) }
    expect(enter({ kind: 'service', products: ['info'] })).toEqual(notEntitled)
    expect(enter({}, { product: 'platform', kind: 'service' })).toEqual(notEntitled)
    expect(enter({}, { product: 'rpc', kind: 'api' })).toEqual(notEntitled)
    expect(enter({ kind: 'service', products: ['platform'] }, { product: 'platform', kind: 'any' })).toBe('ok')
  })

  it('points the holder of an ended, replaced key to its successor', () => {
    expect(enter({ replaced: true, expires: 1_001 })).toBe('ok')
    for (const over of [{ expires: 1_000 }, { revoked: 5 }, { revoked: 5, expires: 1_000 }]) {
      expect(enter({ ...over, replaced: true })).toEqual({ kind: 'key_replaced' })
    }
    const { replaced: _, ...before } = record
    expect(KeyRecord.parse({ ...before, revoked: 5 })).toMatchObject({ replaced: false, revoked: 5 })
  })

  it('admits a key with ranges only from an address inside them', () => {
    const ranges = ['192.0.2.0/24', '2001:db8::/32']
    expect(enter({ ranges }, INFO, '192.0.2.7')).toBe('ok')
    expect(enter({ ranges }, INFO, '2001:db8::1')).toBe('ok')
    const isTold = (why: string) => ({ kind: 'not_entitled', why: expect.stringContaining(`, and ${why}`) })
    expect(enter({ ranges }, INFO, '198.51.100.7')).toEqual(isTold('yours is not one of them'))
    expect(enter({ ranges }, INFO, null)).toEqual(isTold('this gateway cannot verify yours (TRUST_PROXY is off)'))
    expect(enter({ ranges: [] }, INFO, '192.0.2.7')).toEqual(isTold('yours is not one of them'))
  })

  it('returns the identity with every field a surface may need', () => {
    const perSecond = { requestsPerSecond: 3, infoRequestsPerSecond: 50 }
    const limits = { ...perSecond, streamConnections: 1, streamSubscriptions: 2, streamMessagesPerMinute: 9 }
    expect(admit({ ...record, limits, expires: 2_000 }, INFO, 1_000, null)).toEqual({
      ok: true,
      value: {
        v: 1,
        account: 'a',
        keyHash: 'h',
        kind: 'api',
        plan: 'trial',
        products: ['info', 'platform'],
        limits,
        expires: 2_000,
      },
    })
  })
})

describe('key cache', () => {
  it('forgets existing keys after 30 s and missing keys after 5 s', () => {
    const memory = new KeyCache(10)
    memory.set('present', record, 0)
    memory.set('absent', null, 0)
    expect([memory.get('present', 29_999), memory.get('absent', 4_999)]).toEqual([record, null])
    expect([memory.get('present', 30_000), memory.get('absent', 5_000)]).toEqual([undefined, undefined])
  })

  it('keeps existing keys during a flood of missing keys', () => {
    const memory = new KeyCache(10)
    for (let i = 0; i < 5; i++) memory.set(`present ${i}`, record, 0)
    for (let i = 0; i < 1_000; i++) memory.set(`absent ${i}`, null, 0)
    for (let i = 0; i < 5; i++) expect(memory.get(`present ${i}`, 1)).toEqual(record)
    expect(memory.size).toBeLessThanOrEqual(10)
  })

  it('remembers existing keys, evicts the oldest first, and counts a rewritten key as new', () => {
    const memory = new KeyCache(2)
    for (const id of ['a', 'b', 'a', 'c']) memory.set(id, record, 0)
    expect(['a', 'b', 'c'].map((id) => memory.has(id))).toEqual([true, false, true])
    memory.set('a', null, 0)
    expect([memory.size, memory.has('a'), memory.get('a', 1)]).toEqual([2, false, null])
    memory.set('a', record, 0)
    expect([memory.size, memory.get('a', 1)]).toEqual([2, record])
  })

  it('never exceeds its capacity', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 }), (ids) => {
        const memory = new KeyCache(5)
        for (const id of ids) memory.set(String(id), null, 0)
        expect(memory.size).toBeLessThanOrEqual(5)
        expect(memory.get(String(ids.at(-1)), 1)).toBe(null)
      }),
    )
  })
})
