// Who administers a gateway, and what each may. Laws: a role may all that those before it may; the holder of ADMIN_TOKEN
// is an owner whose name nobody else can have.

import { randomBase58 } from '../core/base58.ts'

/** From the least on: `support` reads, `billing` sells, `owner` does everything. */
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

/** Who of the staff is named by a token, or by the hash of one, now; null: nobody. */
export interface StaffLookup {
  byToken(token: string): Promise<Operator | null>
  byHash(tokenHash: string): Promise<Operator | null>
}

export const ADMIN_OPERATOR: Operator = { name: 'operator', role: 'owner' }

export const hasRole = (role: StaffRole, needed: StaffRole) => STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(needed)

const RANDOM_LENGTH = 32
/** The last eight characters are a check, as those of a key are. */
const TOKEN = /^(cqo_[1-9A-HJ-NP-Za-km-z]{32})([1-9A-HJ-NP-Za-km-z]{8})$/

/** What the check characters are computed over, and they; null: the text has not the form of a token of the staff. */
export function parseStaffToken(text: string): { readonly signed: string; readonly check: string } | null {
  const [, signed, check] = TOKEN.exec(text) ?? []
  return signed === undefined || check === undefined ? null : { signed, check }
}

export const randomStaffTokenBody = (random: (bytes: number) => Uint8Array) =>
  `cqo_${randomBase58(RANDOM_LENGTH, random)}`
