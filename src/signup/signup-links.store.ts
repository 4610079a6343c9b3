// Links and sign-ups in D1. Laws: a link is used once; an address, and all its variants together, have one account. How
// many links there are for whom is signup-bounds.ts.

import type { LinksOfDay } from './signup-bounds.ts'

const DAY_MS = 86_400_000
/** How long a link opens. */
export const LINK_LIFE_MS = 30 * 60_000
/** Of variants of an address, and of a network, in a day. */
const OF_BASE_MAX = 5
const OF_NETWORK_MAX = 20

/** Whence a link was asked for: HMACs, null where it is not known. */
export interface LinkOrigin {
  readonly network: string | null
  readonly area: string | null
  readonly domain: string
}

/** HMACs of what they are named after. */
export interface LinkOwner {
  readonly address: string
  readonly base: string
}

export class SignUpLinks {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** Links of the last day. Where the area is not known, the domain says whether whoever asks is new. */
  async ofDay({ area, domain }: Pick<LinkOrigin, 'area' | 'domain'>, nowMs: number): Promise<LinksOfDay> {
    const count = `SELECT count(*) AS "all", coalesce(sum(domain = ?2), 0) AS domain,
      coalesce(sum(area = ?3), 0) AS area FROM signup_links WHERE created > ?1`
    const found = await this.#db
      .prepare(count)
      .bind(nowMs - DAY_MS, domain, area)
      .first<LinksOfDay>()
    // Of callers who cannot be told apart nobody is bounded by the others.
    return area === null ? { ...found!, area: Math.min(1, found!.domain) } : found!
  }

  /** False, and nothing done, where the address or the network had as many of the day as it may. */
  async add(hash: string, { address, base }: LinkOwner, from: LinkOrigin, nowMs: number): Promise<boolean> {
    const { network, area, domain } = from
    const insert = `INSERT INTO signup_links (hash, address, base, network, created, area, domain)
      SELECT ?1, ?2, ?3, ?4, ?5, ?9, ?10
      WHERE (SELECT count(*) FROM signup_links WHERE base = ?3 AND created > ?6) < ?7
        AND (SELECT count(*) FROM signup_links WHERE network = ?4 AND created > ?6) < ?8`
    const [, added] = await this.#db.batch([
      this.#db.prepare('DELETE FROM signup_links WHERE created <= ?').bind(nowMs - DAY_MS),
      this.#db
        .prepare(insert)
        .bind(hash, address, base, network, nowMs, nowMs - DAY_MS, OF_BASE_MAX, OF_NETWORK_MAX, area, domain),
    ])
    return added!.meta.changes > 0
  }

  /** Null: there is none, or not for a day. */
  async named(hash: string): Promise<(LinkOwner & { readonly created: number; readonly used: number | null }) | null> {
    const select = 'SELECT address, base, created, used FROM signup_links WHERE hash = ?'
    return this.#db.prepare(select).bind(hash).first()
  }

  /** False where somebody was faster. */
  async use(hash: string, nowMs: number): Promise<boolean> {
    const update = 'UPDATE signup_links SET used = ? WHERE hash = ? AND used IS NULL'
    return (await this.#db.prepare(update).bind(nowMs, hash).run()).meta.changes > 0
  }

  /** The account of the address or of a variant of it; null: neither has one. */
  async ownerOf({ base }: LinkOwner): Promise<{ readonly account: string; readonly address: string } | null> {
    return this.#db.prepare('SELECT account, address FROM signups WHERE base = ?').bind(base).first()
  }

  /** Whoever came first has the account. */
  async claim({ address, base }: LinkOwner, account: string, nowMs: number): Promise<void> {
    const insert = 'INSERT INTO signups (address, base, account, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
    await this.#db.prepare(insert).bind(address, base, account, nowMs).run()
  }
}
