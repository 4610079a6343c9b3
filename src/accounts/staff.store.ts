// The staff in D1. Laws: of a token only its hash is kept; a made-up token is looked up nowhere; who was revoked is nobody
// from the next request on, and stays in the list.

import { isCheckValid, sha256, withCheck } from './digest.client.ts'
import { type Operator, parseStaffToken, randomStaffTokenBody, type StaffRole, type StaffRow } from './staff.ts'

/** More do not fit a list, and no gateway has them. */
const STAFF_MAX = 1_000

export class StaffStore {
  readonly #db: D1Database
  readonly #keySecret: string

  /** `keySecret`: makes check characters; empty: there is no staff. */
  constructor(db: D1Database, keySecret: string) {
    this.#db = db
    this.#keySecret = keySecret
  }

  /** Whose this token is, now; null: nobody's. */
  async byToken(token: string): Promise<Operator | null> {
    const parsed = parseStaffToken(token)
    if (parsed === null || this.#keySecret === '' || !(await isCheckValid(parsed, this.#keySecret))) return null
    return this.byHash(await sha256(token))
  }

  /** Whose the hash of a token is, now; null: nobody's. */
  async byHash(tokenHash: string): Promise<Operator | null> {
    const select = 'SELECT name, role FROM staff WHERE hash = ? AND revoked IS NULL'
    return this.#db.prepare(select).bind(tokenHash).first<Operator>()
  }

  /** The token, shown this once; null, and nothing done, where somebody of this name has one. */
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

  /** False where nobody of this name has a token. */
  async revoke(name: string, nowMs: number): Promise<boolean> {
    const update = 'UPDATE staff SET revoked = ? WHERE name = ? AND revoked IS NULL'
    return (await this.#db.prepare(update).bind(nowMs, name).run()).meta.changes > 0
  }
}
