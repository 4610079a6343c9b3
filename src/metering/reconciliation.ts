// Compares what D1 knows of an account with its meter, for example after one of them was restored to an earlier time.
// Rules: a grant in D1 is given once by its id; spending that D1 has copied and the meter has forgotten is charged again, up to
// the balance, and the rest is written off; of two limits of a key the stricter one wins; nothing else changes the
// balance. Invariant: a second repair changes nothing.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'

export interface GrantFact {
  readonly id: string
  readonly micro: MicroCredits
  readonly atMs: number
}

interface KeyFact {
  readonly hash: KeyHash
  readonly isRevoked: boolean
  /** Unix ms; null: never. */
  readonly expiresMs: number | null
  /** The cap of the rotation chain; null: none. */
  readonly cap: MicroCredits | null
  /** The key that this one replaced. */
  readonly replaces: KeyHash | null
}

/** Newest grants and keys of an account, at most FACTS_MAX of each. */
export interface AccountFacts {
  readonly plan: string
  readonly grants: readonly GrantFact[]
  readonly keys: readonly KeyFact[]
  /** Sum of the usage that was copied to D1. */
  readonly used: MicroCredits
}

export const FACTS_MAX = 1_000

/** The same from the meter. Keys are those of D1, in the same order. */
export interface MeterFacts {
  readonly plan: string | null
  readonly grants: readonly GrantFact[]
  readonly keys: readonly (Omit<KeyFact, 'replaces'> & { readonly heir: KeyHash | null })[]
  /** Charged or written off. */
  readonly used: MicroCredits
}

export interface Difference {
  readonly what: 'grant' | 'used' | 'plan' | 'revoked' | 'expires' | 'cap' | 'heir'
  /** Id of the grant or hash of the key; empty for the account. */
  readonly id: string
  readonly d1: string | number | boolean | null
  readonly meter: string | number | boolean | null
  /** The side that a repair changes; `none`: the operator must decide. */
  readonly repair: 'd1' | 'meter' | 'none'
}

/** Differences in the order in which they are repaired: grants before the spending that they cover. */
export function differences(d1: AccountFacts, meter: MeterFacts): Difference[] {
  const plan: Difference[] =
    d1.plan === meter.plan ? [] : [{ what: 'plan', id: '', d1: d1.plan, meter: meter.plan, repair: 'none' }]
  const used: Difference[] =
    d1.used > meter.used ? [{ what: 'used', id: '', d1: d1.used, meter: meter.used, repair: 'meter' }] : []
  return [...grantDifferences(d1.grants, meter.grants), ...used, ...plan, ...keyDifferences(d1.keys, meter.keys)]
}

function grantDifferences(d1: readonly GrantFact[], meter: readonly GrantFact[]): Difference[] {
  const inMeter = new Map(meter.map(({ id, micro }) => [id, micro]))
  const inD1 = new Map(d1.map(({ id, micro }) => [id, micro]))
  const lacking = d1.flatMap(({ id, micro }): Difference[] => {
    const given = inMeter.get(id) ?? null
    if (given === micro) return []
    return [{ what: 'grant', id, d1: micro, meter: given, repair: given === null ? 'meter' : 'none' }]
  })
  // The newest grants of a long list may be other ones on both sides.
  const isWhole = d1.length < FACTS_MAX && meter.length < FACTS_MAX
  const unknown = meter.filter(({ id }) => isWhole && !inD1.has(id))
  return [
    ...lacking,
    ...unknown.map(({ id, micro }): Difference => ({ what: 'grant', id, d1: null, meter: micro, repair: 'd1' })),
  ]
}

function keyDifferences(d1: readonly KeyFact[], meter: MeterFacts['keys']): Difference[] {
  const successors = new Map(d1.flatMap(({ hash, replaces }) => (replaces === null ? [] : [[replaces, hash]])))
  return d1.flatMap((key, index): Difference[] => {
    const own = meter[index]
    if (own === undefined) return []
    const { hash: id } = key
    const heir = successors.get(id) ?? null
    return [
      ...(heir !== null && own.heir === null
        ? [{ what: 'heir', id, d1: heir, meter: null, repair: 'meter' } as const]
        : []),
      ...stricter('revoked', id, key.isRevoked || null, own.isRevoked || null),
      // A rotation ends the old key in D1 and names its successor in the meter.
      ...(heir === null ? stricter('expires', id, key.expiresMs, own.expiresMs) : []),
      ...stricter('cap', id, key.cap, own.cap),
    ]
  })
}

/** The smaller limit wins; null is none. */
function stricter(
  what: Difference['what'],
  id: string,
  d1: number | true | null,
  meter: number | true | null,
): Difference[] {
  if (d1 === meter) return []
  const isD1Stricter = d1 !== null && (meter === null || d1 < meter)
  return [{ what, id, d1, meter, repair: isD1Stricter ? 'meter' : 'd1' }]
}
