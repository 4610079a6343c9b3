// Laws of a comparison: a repair converges, gives every grant once, and never loosens a key.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import {
  type AccountFacts,
  chainsOf,
  type Difference,
  differences,
  type MeterFacts,
} from '../../src/metering/reconciliation.ts'

type Hash = ReturnType<typeof keyHashOf>

const grant = fc.record({ id: fc.constantFrom('a', 'b', 'c'), micro: fc.constant(5), atMs: fc.constant(0) })
const grants = fc.uniqueArray(grant, { selector: ({ id }) => id })
const limit = fc.option(fc.integer({ min: 0, max: 9 }))
const key = fc.record({ isRevoked: fc.boolean(), expiresMs: limit, cap: limit })
const HASHES = ['k', 'l'].map(keyHashOf)
const world = fc.record({
  d1: fc.record({ grants, keys: fc.tuple(key, key), used: fc.nat(20) }),
  meter: fc.record({ grants, keys: fc.tuple(key, key), used: fc.nat(20) }),
})

type Keys = { isRevoked: boolean; expiresMs: number | null; cap: number | null }[]
interface Side {
  grants: { id: string; micro: number; atMs: number }[]
  keys: Keys
  used: number
}
const FIELDS = { revoked: 'isRevoked', expires: 'expiresMs', cap: 'cap' } as const

/** Applies the repairs to a copy of both sides. */
function repaired(d1: Side, meter: Side, found: readonly Difference[]): { d1: Side; meter: Side } {
  const sides = structuredClone({ d1, meter })
  for (const { what, id, repair, ...values } of found) {
    if (repair === 'none') continue
    const value = repair === 'd1' ? values.meter : values.d1
    if (what === 'grant') sides[repair].grants.push({ id, micro: Number(value), atMs: 0 })
    else if (what === 'used') sides[repair].used = Number(value)
    else if (what === 'revoked' || what === 'expires' || what === 'cap')
      Object.assign(sides[repair].keys[HASHES.indexOf(keyHashOf(id))]!, { [FIELDS[what]]: value })
  }
  return sides
}
const compare = (d1: Side, meter: Side) =>
  differences(
    { ...d1, plan: 'p', keys: d1.keys.map((one, i) => ({ ...one, hash: HASHES[i]!, replaces: null, used: 0 })) },
    { ...meter, plan: 'p', keys: meter.keys.map((one, i) => ({ ...one, hash: HASHES[i]!, heir: null })) },
  )
/** Null is no limit. */
const strictest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))

it('one repair makes both sides equal, with the stricter limits and each grant once', () => {
  fc.assert(
    fc.property(world, ({ d1, meter }) => {
      const after = repaired(d1, meter, compare(d1, meter))
      expect(compare(after.d1, after.meter)).toEqual([])
      const ids = (side: Side) => side.grants.map(({ id }) => id).sort()
      const all = [...new Set([...ids(d1), ...ids(meter)])].sort()
      expect([ids(after.d1), ids(after.meter)]).toEqual([all, all])
      expect(after.meter.used).toBe(Math.max(d1.used, meter.used))
      expect(after.d1.used).toBe(d1.used)
      for (const i of [0, 1]) {
        const limits = {
          isRevoked: d1.keys[i]!.isRevoked || meter.keys[i]!.isRevoked,
          expiresMs: strictest(d1.keys[i]!.expiresMs, meter.keys[i]!.expiresMs),
          cap: strictest(d1.keys[i]!.cap, meter.keys[i]!.cap),
        }
        expect([after.d1.keys[i], after.meter.keys[i]]).toEqual([limits, limits])
      }
    }),
  )
})

const NOTHING = { plan: 'p', grants: [], keys: [], used: 0 }

it('leaves to the operator what has no safe repair', () => {
  const d1: AccountFacts = { ...NOTHING, plan: 'a', grants: [{ id: 'g', micro: 5, atMs: 0 }] }
  const meter: MeterFacts = { ...NOTHING, plan: null, grants: [{ id: 'g', micro: 6, atMs: 0 }] }
  expect(differences(d1, meter)).toEqual([
    { what: 'grant', id: 'g', d1: 5, meter: 6, repair: 'none' },
    { what: 'plan', id: '', d1: 'a', meter: null, repair: 'none' },
  ])
})

const LIMITS = { isRevoked: false, cap: null, expiresMs: null }

it('tells the meter successors from the first key of a chain on, before caps, whatever the order of the keys', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(keyHashOf) as [Hash, Hash, Hash]
  const keys = [
    { ...LIMITS, hash: a, cap: 5, expiresMs: 7, replaces: null, used: 0 },
    { ...LIMITS, hash: b, cap: 5, expiresMs: 8, replaces: a, used: 0 },
    { ...LIMITS, hash: c, cap: 5, replaces: b, used: 0 },
  ]
  for (const order of [keys, keys.toReversed()]) {
    const none = order.map(({ hash }) => ({ ...LIMITS, hash, heir: null }))
    const found = differences({ ...NOTHING, keys: order }, { ...NOTHING, keys: none })
    expect(found.slice(0, 2).map(({ what, id, d1 }) => [what, id, d1])).toEqual([
      ['heir', a, b],
      ['heir', b, c],
    ])
    // The end of a replaced key is not compared.
    expect(found.slice(2).map(({ what }) => what)).toEqual(['cap', 'cap', 'cap'])
  }
  const known = [a, b, c].map((hash, at) => ({ ...LIMITS, hash, cap: 5, heir: [b, c, null][at] ?? null }))
  expect(differences({ ...NOTHING, keys }, { ...NOTHING, keys: known })).toEqual([])
})

it('ends for keys that replace each other', () => {
  const [a, b] = HASHES as [Hash, Hash]
  const of = (hash: Hash, replaces: Hash | null) => ({ ...LIMITS, hash, replaces, used: 0 })
  expect(chainsOf([of(a, null), of(a, b), of(b, a)])).toEqual([[a, b, a]])
})

it('does not charge again while D1 may lack a refund', () => {
  expect(differences({ ...NOTHING, used: 9 }, { ...NOTHING, used: null })).toEqual([])
})
