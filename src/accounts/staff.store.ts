// Staff in D1. Invariants: only the hash of a token is stored; an invented token is never looked up; a revoked member
// is rejected starting with the next request, and stays listed.

import { isCheckValid, sha256, withCheck } from './digest.client.ts'
import { type Operator, parseStaffToken, randomStaffTokenBody, type StaffRole, type StaffRow } from './staff.ts'

/** Maximum length of the list. No gateway has that many staff members. */
const STAFF_MAX = 1_000

export class StaffStore {
  readonly #db: D1Database
  readonly #keySecret: string

  /** `keySecret` computes check characters; empty: staff tokens are disabled. */
  constructor(db: D1Database, keySecret: string) {
    this.#db = db
    this.#keySecret = keySecret
  }

  /** The staff member who holds this token; null if there is none. */
  async byToken(token: string): Promise<Operator | null> {
    const parsed = parseStaffToken(token)
    if (parsed === null || this.#keySecret === '' || !(await isCheckValid(parsed, this.#keySecret))) return null
    return this.byHash(await sha256(token))
  }

  /** The staff member who holds the token with this hash; null if there is none. */
  async byHash(tokenHash: string): Promise<Operator | null> {
    const select = 'SELECT name, role FROM staff WHERE hash = ? AND revoked IS NULL'
    return this.#db.prepare(select).bind(tokenHash).first<Operator>()
  }

  /** The new token, shown once. Returns null and changes nothing if the name has an active token. */
  async add(name: string, role: StaffRole, nowMs: number): Promise<string | null> {
    const drawn = randomStaffTokenBody((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
    const token = await withCheck(drawn, this.#keySecret)
    const insert = 'INSERT INTO staff (hash, name, role, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
    const { meta } = await this.#db
      .prepare(insert)
      .bind(await sha256(token), name, role, nowMs)
      .run()
    return meta.changes > 0 ? token : null
  }

  /** Newest first. */
  async list(): Promise<StaffRow[]> {
    const select = 'SELECT name, role, created, revoked FROM staff ORDER BY created DESC, hash LIMIT ?'
    return (await this.#db.prepare(select).bind(STAFF_MAX).all<StaffRow>()).results
  }

  /** False if the name has no active token. */
  async revoke(name: string, nowMs: number): Promise<boolean> {
    const update = 'UPDATE staff SET revoked = ? WHERE name = ? AND revoked IS NULL'
    return (await this.#db.prepare(update).bind(nowMs, name).run()).meta.changes > 0
  }
}
