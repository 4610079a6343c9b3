import { describe, expect, it } from 'vitest'
import { constantTimeEqual, gateBySecret } from '../../src/core/secret.ts'
import { presentedKey } from '../../src/edge/presented-key.ts'

const none = { authorization: null, query: [], path: null }
const ok = (value: string) => ({ ok: true, value })
const refused = (kind: string) => ({ ok: false, error: { kind } })

describe('where a key is carried', () => {
  it('finds it in the places that the surface allows, in their order', () => {
    expect(presentedKey({ ...none, authorization: 'Bearer k1' }, ['bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, authorization: 'bearer  k1' }, ['bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, query: ['k1'] }, ['query', 'bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, authorization: 'Bearer k2', query: ['k1'] }, ['query', 'bearer'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, query: ['k1'] }, ['bearer'])).toEqual(refused('key_missing'))
    expect(presentedKey({ ...none, path: 'k1' }, ['bearer', 'path'])).toEqual(ok('k1'))
    const basic = `Basic ${btoa('k1:')}`
    expect(presentedKey({ ...none, authorization: basic }, ['basic'])).toEqual(ok('k1'))
    expect(presentedKey({ ...none, authorization: `Basic ${btoa('k1')}` }, ['basic'])).toEqual(ok('k1'))
  })

  it('tells missing from malformed', () => {
    expect(presentedKey(none, ['bearer', 'query', 'path', 'basic'])).toEqual(refused('key_missing'))
    expect(presentedKey({ ...none, query: [''] }, ['query'])).toEqual(refused('key_missing'))
    for (const authorization of ['Bearer', 'Bearer ', 'k1', `Basic ${btoa('k1:')}`]) {
      expect(presentedKey({ ...none, authorization }, ['bearer'])).toMatchObject(refused('key_malformed'))
    }
    expect(presentedKey({ ...none, query: ['a', 'b'] }, ['query'])).toMatchObject(refused('key_malformed'))
    expect(presentedKey({ ...none, authorization: 'Basic !!!' }, ['basic'])).toEqual(refused('key_missing'))
    expect(presentedKey({ ...none, authorization: `Basic ${btoa(':x')}` }, ['basic'])).toMatchObject(
      refused('key_malformed'),
    )
  })

  it('leaves whitespace of ?key= where it is, for the form of a key to refuse', () => {
    expect(presentedKey({ ...none, query: ['k1 '] }, ['query'])).toEqual(ok('k1 '))
  })
})

describe('operator secrets', () => {
  const secret = 's'.repeat(32)
  it('compares whole texts', () => {
    expect(constantTimeEqual('abc', 'abc')).toBe(true)
    for (const other of ['', 'ab', 'abd', 'abca', 'abcabc', 'ABC']) expect(constantTimeEqual(other, 'abc')).toBe(false)
    expect(constantTimeEqual('', '')).toBe(true)
    expect(constantTimeEqual('a', '')).toBe(false)
  })

  it('closes a surface whose secret is unset or short', () => {
    expect(gateBySecret(`Bearer ${secret}`, undefined)).toBe('closed')
    expect(gateBySecret('Bearer short', 'short')).toBe('closed')
    expect(gateBySecret(undefined, secret)).toBe('refused')
    expect(gateBySecret(secret, secret)).toBe('refused')
    expect(gateBySecret(`Bearer ${secret}`, secret)).toBe('granted')
  })
})
