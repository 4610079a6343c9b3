// Compares what D1 knows of an account with its meter, for example after one of them was restored to an earlier time.
// Rules: a grant in D1 is given once by its id; spending that D1 has copied and the meter has forgotten is charged again, up to
// the balance, and the rest is written off; of two limits of a key the stricter one wins; nothing else changes the
// balance. Invariant: a second repair changes nothing.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import { pairs } from '../core/pairs.ts'
import type { PlanInput } from './plans/plan-period.ts'

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
  /** Its usage that was copied to D1. */
  readonly used: MicroCredits
}

/** Newest grants, and live or newest keys of an account, at most FACTS_MAX of each. */
export interface AccountFacts {
  readonly plan: string
  readonly grants: readonly GrantFact[]
  readonly keys: readonly KeyFact[]
  /** Sum of the usage that was copied to D1, of all keys. */
  readonly used: MicroCredits
}

export const FACTS_MAX = 1_000

/** An exported account for an empty meter. The balance already contains the grants and usage of `facts`. */
export interface Adoption {
  /** Id of the grant that carries the balance; another one for each export. */
  readonly id: string
  readonly balance: MicroCredits
  readonly plan: PlanInput
  readonly facts: AccountFacts
}

/** The same from the meter. Keys are those of D1, in the same order. */
export interface MeterFacts {
  readonly plan: string | null
  readonly grants: readonly GrantFact[]
  readonly keys: readonly (Omit<KeyFact, 'replaces' | 'used'> & { readonly heir: KeyHash | null })[]
  /** Charged or written off; null: D1 may lack the latest changes, which may be refunds. */
  readonly used: MicroCredits | null
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

/**
 * Differences in the order in which they are repaired: grants before the spending that they cover, successors before
 * the caps that a chain shares.
 */
export function differences(d1: AccountFacts, meter: MeterFacts): Difference[] {
  const plan: Difference[] =
    d1.plan === meter.plan ? [] : [{ what: 'plan', id: '', d1: d1.plan, meter: meter.plan, repair: 'none' }]
  const used: Difference[] =
    meter.used !== null && d1.used > meter.used
      ? [{ what: 'used', id: '', d1: d1.used, meter: meter.used, repair: 'meter' }]
      : []
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

/** Each chain of rotations, from its first key on. */
export function chainsOf(keys: AccountFacts['keys']): (readonly [KeyHash, ...KeyHash[]])[] {
  const hashes = new Set(keys.map(({ hash }) => hash))
  const successors = new Map(keys.flatMap(({ hash, replaces }) => (replaces === null ? [] : [[replaces, hash]])))
  const firsts = keys.filter(({ replaces }) => replaces === null || !hashes.has(replaces))
  return firsts.map(({ hash: first }) => {
    const chain: [KeyHash, ...KeyHash[]] = [first]
    for (let last = first, next = successors.get(last); next !== undefined; next = successors.get(last)) {
      // Wrong rows may form a circle.
      successors.delete(last)
      chain.push(next)
      last = next
    }
    return chain
  })
}

function keyDifferences(d1: AccountFacts['keys'], meter: MeterFacts['keys']): Difference[] {
  const known = new Map(meter.map((own) => [own.hash, own]))
  const replaced = new Set(d1.map(({ replaces }) => replaces))
  const heirs = chainsOf(d1).flatMap((chain) =>
    [...pairs(chain)].flatMap(([id, heir]): Difference[] =>
      known.get(id)?.heir === null ? [{ what: 'heir', id, d1: heir, meter: null, repair: 'meter' }] : [],
    ),
  )
  const limits = d1.flatMap((key): Difference[] => {
    const { hash: id } = key
    const own = known.get(id)
    if (own === undefined) return []
    return [
      ...stricter('revoked', id, key.isRevoked || null, own.isRevoked || null),
      // A rotation ends the old key in D1 and names its successor in the meter.
      ...(replaced.has(id) ? [] : stricter('expires', id, key.expiresMs, own.expiresMs)),
      ...stricter('cap', id, key.cap, own.cap),
    ]
  })
  return [...heirs, ...limits]
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
