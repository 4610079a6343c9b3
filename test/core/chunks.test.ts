import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromChunks, toChunks } from '../../src/core/chunks.ts'
import { isDeeperThan } from '../../src/core/json.ts'

describe('chunks', () => {
  it('rejoin to the same string at any size, even when cut inside a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (text, size) => {
        const chunks = toChunks(text, size)
        expect(chunks.every(({ length }) => length <= size)).toBe(true)
        expect(fromChunks(chunks.map(({ buffer }) => buffer))).toBe(text)
      }),
    )
  })
})

describe('JSON depth', () => {
  it('counts brackets outside strings', () => {
    expect(isDeeperThan('{"a":[1,{"b":2}]}', 3)).toBe(false)
    expect(isDeeperThan('{"a":[1,{"b":[]}]}', 3)).toBe(true)
    expect(isDeeperThan(`["${'['.repeat(100)}\\"${'{'.repeat(100)}"]`, 1)).toBe(false)
    expect(isDeeperThan('['.repeat(100_000))).toBe(true)
  })
})
