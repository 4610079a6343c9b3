// What an operator sees of all accounts together, from D1. Laws: every list is a page behind a cursor, found by an index;
// sums are those of rows that other endpoints show one by one.

import { DAY_MS } from '../../core/time.ts'
import { rowOf, type StoredRow } from '../../pipelines/row.ts'
import type {
  AccountFilter,
  AccountSummary,
  Business,
  DaySum,
  GrantRow,
  KeyName,
  PlacedPipeline,
  RefusalFilter,
  RefusedRow,
  SignUpLinksOfDay,
} from './operator-api.ts'

const REFUSED = 'number, at, request_id, account, key_prefix, product, type, code, message'

export class BusinessStore implements Business {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** By name. `search`: part of it, in any case. */
  async accounts({ search, plan, after }: AccountFilter, limit: number, nowMs: number): Promise<AccountSummary[]> {
    const select = `SELECT id AS account, plan, created,
      (SELECT count(*) FROM keys WHERE account = a.id AND revoked IS NULL AND (expires IS NULL OR expires > ?1)) AS keys,
      (SELECT max((SELECT max(hour) FROM usage WHERE key_hash = k.hash)) FROM keys k WHERE account = a.id) AS last_used
      FROM accounts a WHERE id > ?2 AND (?3 IS NULL OR instr(lower(id), lower(?3)) > 0) AND (?4 IS NULL OR plan = ?4)
      ORDER BY id LIMIT ?5`
    return this.#all(select, nowMs, after ?? '', search ?? null, plan ?? null, limit)
  }

  async counts(): Promise<{ readonly accounts: number; readonly keys: number; readonly open_orders: number }> {
    const select = `SELECT (SELECT count(*) FROM accounts) AS accounts,
      (SELECT count(*) FROM keys WHERE revoked IS NULL) AS keys,
      (SELECT count(*) FROM orders WHERE state = 'open') AS open_orders`
    return (await this.#db.prepare(select).first())!
  }

  async signUpLinks(sinceMs: number): Promise<SignUpLinksOfDay> {
    const largest = (column: 'area' | 'domain') =>
      `coalesce((SELECT count(*) FROM day WHERE ${column} IS NOT NULL GROUP BY ${column} ORDER BY 1 DESC LIMIT 1), 0)`
    const select = `WITH day AS (SELECT area, domain FROM signup_links WHERE created > ? AND domain IS NOT NULL)
      SELECT count(*) AS links, count(DISTINCT area) AS networks, ${largest('area')} AS most_of_network,
        count(DISTINCT domain) AS domains, ${largest('domain')} AS most_of_domain FROM day`
    return (await this.#db.prepare(select).bind(sinceMs).first<SignUpLinksOfDay>())!
  }

  async paid(fromMs: number, toMs: number) {
    const select = `SELECT currency, count(*) AS orders, sum(minor) AS minor, sum(refunded) AS refunded FROM orders
      WHERE state = 'paid' AND paid >= ? AND paid < ? GROUP BY 1 ORDER BY 1`
    return this.#all<Awaited<ReturnType<Business['paid']>>[number]>(select, fromMs, toMs)
  }

  /** Newest first. */
  async grants(account: string | undefined, before: number | undefined, limit: number): Promise<GrantRow[]> {
    const select = `SELECT rowid AS number, account, id, micro, created FROM grants
      WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
    return this.#all(select, account ?? null, before ?? null, limit)
  }

  /** Newest first. */
  async refusals({ account, code, before }: RefusalFilter, limit: number): Promise<RefusedRow[]> {
    const select = `SELECT ${REFUSED} FROM refusals WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR code = ?2)
      AND (?3 IS NULL OR number < ?3) ORDER BY number DESC LIMIT ?4`
    return this.#all(select, account ?? null, code ?? null, before ?? null, limit)
  }

  /** Of all accounts, newest first; `before` is the place of the last one of the page before. */
  async pipelines(account: string | undefined, before: number | undefined, limit: number) {
    const select = `SELECT rowid AS number, * FROM pipelines WHERE removed IS NULL AND (?1 IS NULL OR account = ?1)
      AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
    const rows = await this.#all<StoredRow & { number: number }>(select, account ?? null, before ?? null, limit)
    return rows.map((row): PlacedPipeline => ({ number: row.number, row: rowOf(row) }))
  }

  /** What was used, by day and product. */
  async used(fromMs: number, toMs: number): Promise<DaySum[]> {
    const select = `SELECT day, product, calls AS count, micro FROM usage_days WHERE day >= ? AND day < ? ORDER BY 1, 2`
    return this.#all(select, fromMs, toMs)
  }

  async granted(fromMs: number, toMs: number): Promise<{ readonly day: number; readonly micro: number }[]> {
    const select = `SELECT created - created % ${DAY_MS} AS day, sum(micro) AS micro FROM grants
      WHERE created >= ? AND created < ? GROUP BY 1 ORDER BY 1`
    return this.#all(select, fromMs, toMs)
  }

  async refused(fromMs: number, toMs: number) {
    const select = `SELECT hour - hour % ${DAY_MS} AS day, code, sum(count) AS count FROM refusal_counts
      WHERE hour >= ? AND hour < ? GROUP BY 1, 2 ORDER BY 1, 2`
    return this.#all<Awaited<ReturnType<Business['refused']>>[number]>(select, fromMs, toMs)
  }

  /** Keys whose hash this is, or whose shown prefix begins so. */
  async keysLike(text: string, limit: number): Promise<KeyName[]> {
    // As a range, which an index finds; what follows the text in it is of base58.
    const select = `SELECT hash, prefix, label, account, revoked FROM keys
      WHERE hash = ?1 OR (prefix >= ?1 AND prefix < ?1 || '~') ORDER BY created DESC LIMIT ?2`
    return this.#all(select, text, limit)
  }

  async refusalsOf(requestId: string, limit: number): Promise<RefusedRow[]> {
    return this.#all(
      `SELECT ${REFUSED} FROM refusals WHERE request_id = ? ORDER BY number DESC LIMIT ?`,
      requestId,
      limit,
    )
  }

  async #all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    const asked = this.#db.prepare(sql).bind(...values)
    return (await asked.all<Row>()).results
  }
}
