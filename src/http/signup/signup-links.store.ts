// Stores sign-up links and accounts in D1. Invariants: a link is used once; an address and all its variants share one
// account; counting and inserting a link is one transaction, so that concurrent requests cannot exceed a limit. The
// limits are in signup-bounds.ts.

import { batchOf } from '../../core/d1.store.ts'
import type { AccountId } from '../../core/ids.ts'
import { DAY_MS } from '../../core/time.ts'
import type { DailyLinks, LinkBounds } from './signup-bounds.ts'

/** Validity of a link. */
export const LINK_LIFE_MS = 30 * 60_000
/** Maximum links per day: for all variants of an address, and for a network. */
const PER_BASE_MAX = 5
const PER_NETWORK_MAX = 20

/** HMACs of the requester's networks and of the mail domain. The networks are null if the client address is unknown. */
export interface LinkOrigin {
  readonly network: string | null
  readonly area: string | null
  readonly domain: string
}

/** HMACs of the address and its normalized form. */
export interface LinkOwner {
  readonly address: string
  readonly base: string
}

interface NewLink extends LinkOwner {
  /** The address, encrypted. */
  readonly sealed: string
}

/** The sign-up of an address or of one of its variants. */
interface SignedUp {
  readonly account: AccountId
  readonly address: string
  /** Member that it became; null: none yet. */
  readonly member: string | null
}

/** Counts links since ?1. If the network is unknown, the domain is used instead. */
const DAY_COUNTS = `SELECT count(*) AS "all", coalesce(sum(domain = ?2), 0) AS domain,
  iif(?3 IS NULL, coalesce(max(domain = ?2), 0), coalesce(sum(area = ?3), 0)) AS area
  FROM signup_links WHERE created > ?1 AND domain IS NOT NULL`
const baseHasRoom = (parameter: number) =>
  `(SELECT count(*) FROM signup_links WHERE base = ?${parameter} AND created > ?1) < ${PER_BASE_MAX}`

export class SignUpLinks {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /** Adds a link if it is within all limits. Returns the counts before it and whether it was added.
   */
  async add(
    hash: string,
    { address, base, sealed }: NewLink,
    { network, area, domain }: LinkOrigin,
    bounds: LinkBounds,
    nowMs: number,
  ): Promise<{ readonly before: DailyLinks; readonly isAdded: boolean }> {
    const sinceMs = nowMs - DAY_MS
    const insert = `INSERT INTO signup_links (hash, address, base, network, created, area, domain, sealed)
      SELECT ?4, ?5, ?6, ?7, ?8, ?3, ?2, ?13 FROM (${DAY_COUNTS})
      WHERE "all" < ?9 AND area < ?10 AND (area = 0 OR (domain < ?11 AND "all" < ?12)) AND ${baseHasRoom(6)}
        AND (SELECT count(*) FROM signup_links WHERE network = ?7 AND created > ?1) < ${PER_NETWORK_MAX}`
    const { day, area: ofArea, domain: ofDomain, beforeReserve } = bounds
    const [, counted, added] = await batchOf<[unknown, DailyLinks, unknown]>(this.#db, [
      this.#db.prepare('DELETE FROM signup_links WHERE created <= ?').bind(sinceMs),
      this.#db.prepare(DAY_COUNTS).bind(sinceMs, domain, area),
      this.#db
        .prepare(insert)
        .bind(sinceMs, domain, area, hash, address, base, network, nowMs, day, ofArea, ofDomain, beforeReserve, sealed),
    ])
    const [before = { all: 0, area: 0, domain: 0 }] = counted.results
    return { before, isAdded: added.meta.changes > 0 }
  }

  /**
   * Adds a link for an existing account beyond the daily limits. It counts only for its address, because other counters
   * would reveal that the account exists. Returns false if the address is at its own limit.
   */
  async addForOwner(hash: string, { address, base, sealed }: NewLink, nowMs: number): Promise<boolean> {
    const insert = `INSERT INTO signup_links (hash, address, base, created, sealed)
      SELECT ?2, ?3, ?4, ?5, ?6 WHERE ${baseHasRoom(4)}`
    const added = await this.#db
      .prepare(insert)
      .bind(nowMs - DAY_MS, hash, address, base, nowMs, sealed)
      .run()
    return added.meta.changes > 0
  }

  /** Returns null if the link is unknown or older than a day. */
  async find(hash: string): Promise<(NewLink & { readonly created: number; readonly used: number | null }) | null> {
    const select = 'SELECT address, base, sealed, created, used FROM signup_links WHERE hash = ?'
    return this.#db.prepare(select).bind(hash).first()
  }

  /** False if the link was already used. */
  async markUsed(hash: string, nowMs: number): Promise<boolean> {
    const update = 'UPDATE signup_links SET used = ? WHERE hash = ? AND used IS NULL'
    return (await this.#db.prepare(update).bind(nowMs, hash).run()).meta.changes > 0
  }

  /** Account of the address or of one of its variants; null: none. */
  async ownerOf({ base }: LinkOwner): Promise<SignedUp | null> {
    return this.#db.prepare('SELECT account, address, member FROM signups WHERE base = ?').bind(base).first()
  }

  /** The first claim of an address wins. */
  async claim({ address, base }: LinkOwner, account: AccountId, nowMs: number): Promise<void> {
    const insert = 'INSERT INTO signups (address, base, account, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
    await this.#db.prepare(insert).bind(address, base, account, nowMs).run()
  }
}
