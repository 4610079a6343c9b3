// Operators and their roles. Invariants: each role includes the rights of the roles before it; the holder of
// ADMIN_TOKEN is an owner with a reserved name.

import { randomBase58 } from '../core/base58.ts'

/** In ascending order: `support` reads, `billing` sells, `owner` does everything. */
export const STAFF_ROLES = ['support', 'billing', 'owner'] as const
export type StaffRole = (typeof STAFF_ROLES)[number]

export interface Operator {
  readonly name: string
  readonly role: StaffRole
}

export interface StaffRow extends Operator {
  /** Unix ms. */
  readonly created: number
  readonly revoked: number | null
}

/** The staff member who holds a token, looked up by the token or its hash; null if there is none. */
export interface StaffLookup {
  byToken(token: string): Promise<Operator | null>
  byHash(tokenHash: string): Promise<Operator | null>
}

export const ADMIN_OPERATOR: Operator = { name: 'operator', role: 'owner' }

export const hasRole = (role: StaffRole, needed: StaffRole) => STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(needed)

const RANDOM_LENGTH = 32
/** The last eight characters are a checksum, as in keys. */
const TOKEN = /^(cqo_[1-9A-HJ-NP-Za-km-z]{32})([1-9A-HJ-NP-Za-km-z]{8})$/

/** Signed part and check characters; null if the string is not a staff token. */
export function parseStaffToken(text: string): { readonly signed: string; readonly check: string } | null {
  const [, signed, check] = TOKEN.exec(text) ?? []
  return signed === undefined || check === undefined ? null : { signed, check }
}

export const randomStaffTokenBody = (random: (bytes: number) => Uint8Array) =>
  `cqo_${randomBase58(RANDOM_LENGTH, random)}`
