// Rules, addresses, alerts and their e-mails in an account's meter. Invariants: an alert is written in the transaction
// that caused it; addresses are stored encrypted, and links as hashes; the number of rows is bounded; an account causes at
// most 20 e-mails per hour and 100 per day, confirmations included; an address gets at most one confirmation per hour, and
// none after it unsubscribed, also if it is removed and added again.

import type { AccountId, KeyHash } from '../../core/ids.ts'
import { Tables } from '../../core/tables.store.ts'
import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import { Outbox } from '../webhooks/outbox.store.ts'
import type { AlertBody } from './alert-event.ts'
import { ADDRESSES_MAX, type AlertRule, RULES_MAX } from './alert-rule.ts'
import type { AlertState } from './alert-state.ts'
import type { AddressRefusal, AlertDelivery, AlertRecord, NewAddress, StoredAddress, StoredRule } from './alerts-api.ts'

const EVENTS_MAX = 100
const MAILS_PER_HOUR = 20
const MAILS_PER_DAY = 100
const LINK_LIFE_MS = 7 * DAY_MS
const CONFIRMATION_EVERY_MS = HOUR_MS
/** Rows of removed addresses. Those that unsubscribed are dropped last. */
const REMOVED_MAX = 1_000

/** All rows of an address. ?: the id of one. */
const SAME_ADDRESS = 'digest = (SELECT digest FROM alert_addresses WHERE id = ?)'

export interface KnownRule {
  readonly id: string
  readonly account: AccountId
  readonly rule: AlertRule
  readonly state: AlertState
}

type RuleRow = Pick<KnownRule, 'id' | 'account'> & {
  readonly rule: string
  readonly firing: number
  readonly fired: number | null
}
type AddressRow = StoredAddress & { readonly token: string | null }

/** A mail that is due, and the body of its event. */
export interface DueMail {
  readonly id: string
  readonly address: string
  readonly sealed: string
  readonly body: string
}

export class AlertStore extends Tables {
  readonly mails: Outbox
  /** A copy in memory, because every report reads them. */
  #rules: readonly KnownRule[]

  constructor(sql: SqlStorage) {
    super(sql)
    this.mails = new Outbox(sql, 'alert_mails')
    this.#rules = this.#read()
  }

  get rules(): readonly KnownRule[] {
    return this.#rules
  }

  /** Reads the rules again. Must be called after a transaction failed. */
  reload(): void {
    this.#rules = this.#read()
  }

  #read(): readonly KnownRule[] {
    const rows = this.all<RuleRow>('SELECT id, account, rule, firing, fired FROM alert_rules ORDER BY number')
    return rows.map(({ id, account, rule, firing, fired }) => {
      return { id, account, rule: JSON.parse(rule), state: { isFiring: firing === 1, firedMs: fired } }
    })
  }

  /** A new rule, or a new version of a known one. False: there are too many. */
  putRule({ id, account, rule, state }: KnownRule): boolean {
    const known = this.#rules.some((one) => one.id === id)
    if (!known && this.#rules.length >= RULES_MAX) return false
    this.run(
      `INSERT INTO alert_rules (id, account, rule, firing, fired) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, firing = excluded.firing, fired = excluded.fired`,
      ...[id, account, JSON.stringify(rule), state.isFiring ? 1 : 0, state.firedMs],
    )
    this.reload()
    return true
  }

  removeRule(id: string): boolean {
    const had = this.#rules.some((one) => one.id === id)
    this.run('DELETE FROM alert_rules WHERE id = ?', id)
    this.reload()
    return had
  }

  /** Rules about a key follow its rotation. */
  replaceKey(old: KeyHash, heir: KeyHash): void {
    for (const known of this.#rules) {
      const { condition } = known.rule
      if ('key' in condition && condition.key === old)
        this.putRule({ ...known, rule: { ...known.rule, condition: { ...condition, key: heir } } })
    }
  }

  addresses(): readonly StoredAddress[] {
    return this.all<StoredAddress>(
      'SELECT id, sealed, state, requested AS requestedMs FROM alert_addresses WHERE removed IS NULL ORDER BY number',
    )
  }

  address(id: string): AddressRow | null {
    const select = `SELECT id, sealed, state, requested AS requestedMs, token FROM alert_addresses
      WHERE id = ? AND removed IS NULL`
    return this.first<AddressRow>(select, id) ?? null
  }

  addAddress({ id, sealed, digest, token }: NewAddress, nowMs: number): AddressRefusal | null {
    const select = 'SELECT state, requested AS requestedMs, removed FROM alert_addresses WHERE digest = ?'
    const known = this.all<Pick<AddressRow, 'state' | 'requestedMs'> & { removed: number | null }>(select, digest)
    if (known.some(({ state }) => state === 'unsubscribed')) return 'unsubscribed'
    if (known.some(({ removed }) => removed === null)) return 'exists'
    if (known.some(({ requestedMs }) => nowMs - requestedMs < CONFIRMATION_EVERY_MS)) return 'too_soon'
    if (this.addresses().length >= ADDRESSES_MAX) return 'too_many'
    if (!this.#countConfirmation(id, nowMs)) return 'mail_limit'
    this.run(
      "INSERT INTO alert_addresses (id, sealed, digest, token, requested, state) VALUES (?, ?, ?, ?, ?, 'pending')",
      ...[id, sealed, digest, token, nowMs],
    )
    return null
  }

  renewAddress(id: string, token: string, nowMs: number): { readonly sealed: string } | AddressRefusal {
    const known = this.address(id)
    if (known === null) return 'unknown'
    if (known.state !== 'pending') return known.state
    if (nowMs - known.requestedMs < CONFIRMATION_EVERY_MS) return 'too_soon'
    if (!this.#countConfirmation(id, nowMs)) return 'mail_limit'
    this.run('UPDATE alert_addresses SET token = ?, requested = ? WHERE id = ?', token, nowMs, id)
    return { sealed: known.sealed }
  }

  confirmAddress(id: string, token: string, nowMs: number): boolean {
    const known = this.address(id)
    if (known?.state !== 'pending' || known.token !== token || nowMs - known.requestedMs > LINK_LIFE_MS) return false
    this.run("UPDATE alert_addresses SET state = 'confirmed', token = NULL WHERE id = ?", id)
    return true
  }

  /** Also by the link of a row that was removed. */
  unsubscribe(id: string): boolean {
    if (!this.has('SELECT 1 FROM alert_addresses WHERE id = ?', id)) return false
    this.run(`UPDATE alert_addresses SET state = 'unsubscribed', token = NULL WHERE ${SAME_ADDRESS}`, id)
    this.#dropMails(id)
    return true
  }

  /** Also removes the address from all rules. The row stays without the address, so that adding it again is refused. */
  removeAddress(id: string, nowMs: number): boolean {
    if (this.address(id) === null) return false
    this.run("UPDATE alert_addresses SET sealed = '', token = NULL, removed = ? WHERE id = ?", nowMs, id)
    this.run(
      `DELETE FROM alert_addresses WHERE number IN (SELECT number FROM alert_addresses WHERE removed IS NOT NULL
       ORDER BY state = 'unsubscribed' DESC, removed DESC, number DESC LIMIT -1 OFFSET ${REMOVED_MAX})`,
    )
    for (const known of this.#rules)
      if (known.rule.addresses.includes(id)) {
        const addresses = known.rule.addresses.filter((one) => one !== id)
        this.putRule({ ...known, rule: { ...known.rule, addresses } })
      }
    this.#dropMails(id)
    return true
  }

  #dropMails(address: string): void {
    this.run(
      `UPDATE alert_mails SET state = 'given_up', next = NULL, last = 'the address no longer gets alerts'
       WHERE address IN (SELECT id FROM alert_addresses WHERE ${SAME_ADDRESS}) AND state = 'due'`,
      address,
    )
    this.mails.refresh()
  }

  /** Stores an alert, and an e-mail for each of these addresses that is confirmed. */
  addEvent(id: string, body: string, addresses: readonly string[], nowMs: number): void {
    this.run('INSERT INTO alert_events (id, body) VALUES (?, ?)', id, body)
    this.run('DELETE FROM alert_events WHERE number <= (SELECT max(number) FROM alert_events) - ?', EVENTS_MAX)
    this.run(
      // Mails of a day are counted, but not those that were never attempted.
      `DELETE FROM alert_mails WHERE (created <= ? OR (state = 'given_up' AND attempts = 0))
       AND (event IS NULL OR event NOT IN (SELECT id FROM alert_events))`,
      nowMs - DAY_MS,
    )
    for (const address of addresses) {
      if (this.address(address)?.state !== 'confirmed') continue
      const isAllowed = this.#isMailAllowed(nowMs)
      this.run(
        'INSERT INTO alert_mails (id, event, address, created, state, attempts, next, last) VALUES (?, ?, ?, ?, ?, 0, ?, ?)',
        ...[`${id} ${address}`, id, address, nowMs],
        ...(isAllowed ? ['due', nowMs, null] : ['given_up', null, MAIL_LIMIT]),
      )
    }
    this.mails.refresh()
  }

  /** Mails of this claim. A mail whose alert or address is gone is given up. */
  claimMails(nowMs: number, random: () => number): DueMail[] {
    return this.mails.claim(nowMs, random).flatMap((id) => {
      const due = this.first<DueMail>(
        `SELECT m.id, m.address, a.sealed, e.body FROM alert_mails m
         JOIN alert_addresses a ON a.id = m.address JOIN alert_events e ON e.id = m.event WHERE m.id = ?`,
        id,
      )
      if (due === undefined) this.run("UPDATE alert_mails SET state = 'given_up', next = NULL WHERE id = ?", id)
      return due ?? []
    })
  }

  history(): readonly AlertRecord[] {
    const events = this.all<{ body: string }>('SELECT body FROM alert_events ORDER BY number DESC')
    const deliveries = this.all<AlertDelivery & { event: string }>(
      `SELECT event, address AS "to", state, attempts, last FROM alert_mails WHERE event IS NOT NULL
       UNION ALL SELECT id, NULL, state, attempts, last FROM webhook_events
         WHERE id IN (SELECT id FROM alert_events)`,
    )
    return events.map(({ body }): AlertRecord => {
      const { id, rule, name, type, message, created: createdMs } = JSON.parse(body) as AlertBody
      const own = deliveries.flatMap(({ event, ...delivery }) => (event === id ? [delivery] : []))
      return { id, rule, name, type, message, createdMs, deliveries: own }
    })
  }

  #isMailAllowed(nowMs: number): boolean {
    const { day, hour } = this.one<{ day: number; hour: number }>(
      `SELECT count(*) AS day, coalesce(sum(created > ?2), 0) AS hour FROM alert_mails
       WHERE created > ?1 AND (state <> 'given_up' OR attempts > 0)`,
      nowMs - DAY_MS,
      nowMs - HOUR_MS,
    )
    return day < MAILS_PER_DAY && hour < MAILS_PER_HOUR
  }

  #countConfirmation(address: string, nowMs: number): boolean {
    if (!this.#isMailAllowed(nowMs)) return false
    this.run(
      "INSERT INTO alert_mails (id, address, created, state, attempts) VALUES (?, ?, ?, 'delivered', 1)",
      ...[`confirmation ${address} ${nowMs}`, address, nowMs],
    )
    return true
  }
}

const MAIL_LIMIT = `not sent: at most ${MAILS_PER_HOUR} e-mails per hour and ${MAILS_PER_DAY} per day`

export function ruleView({ id, rule, state }: KnownRule): StoredRule {
  return { id, ...rule, ...state }
}
