// An in-memory meter for streams: the real stream ledger over Maps.

import { EMPTY_ACCOUNT } from '../../../src/metering/account-state.ts'
import { decideCharge, decideGrant, evolveAccount } from '../../../src/metering/ledger.ts'
import type { StreamReport, StreamResponse } from '../../../src/metering/streams/stream-api.ts'
import {
  type RelayPresence,
  StreamLedger,
  type StreamRow,
  type StreamTable,
  UNPAID_MS,
} from '../../../src/metering/streams/stream-ledger.ts'

export class ModelStreams implements StreamTable {
  account = EMPTY_ACCOUNT
  /** State of the only key. */
  cap = Number.POSITIVE_INFINITY
  readonly revoked = new Set<string>()
  unpaidMax = 0
  /** Charges in order. */
  readonly charges: { readonly subscription: string; readonly ordinal: number; readonly amount: number }[] = []
  readonly refunds: { readonly type: string; readonly amount: number }[] = []
  readonly rows = new Map<string, StreamRow>()
  readonly relays = new Map<string, RelayPresence>()
  readonly #ledger: StreamLedger

  constructor(balance: number) {
    this.grant(balance)
    this.#ledger = new StreamLedger(this, {
      account: () => this.account,
      usedBefore: () => 0,
      isRevoked: (keyHash) => this.revoked.has(keyHash),
      charge: ({ subscription, ordinal, amount }, _, isServed) => {
        const room = isServed ? Number.POSITIVE_INFINITY : this.cap - this.account.spent
        if (room < amount) return { ok: false, reason: 'exhausted', remaining: room, cap: this.cap }
        const event = decideCharge(this.account, amount)
        if (event === null) return { ok: false, reason: 'exhausted', remaining: this.account.available }
        this.account = evolveAccount(this.account, event)
        this.charges.push({ subscription, ordinal, amount })
        return { ok: true }
      },
      unpaidMax: () => this.unpaidMax,
      refund: ({ type, amount }) => {
        this.account = evolveAccount(this.account, { type: 'refunded', amount })
        this.refunds.push({ type, amount })
      },
    })
  }

  grant(amount: number): void {
    const event = decideGrant(this.account, amount)
    if (event !== null) this.account = evolveAccount(this.account, event)
  }

  take(report: StreamReport, nowMs: number): StreamResponse {
    return this.#ledger.apply(report, nowMs)
  }

  terms(): number {
    return 0
  }

  stream(subscription: string): StreamRow | null {
    return this.rows.get(subscription) ?? null
  }

  putStream(row: StreamRow): void {
    this.rows.set(row.subscription, row)
  }

  rest(keyHash: string, body: string, nowMs: number): StreamRow | null {
    const kept = this.#kept(nowMs).filter((row) => row.keyHash === keyHash && row.body === body)
    return kept.sort((a, b) => b.restMs! - a.restMs!)[0] ?? null
  }

  hasRest(keyHash: string, nowMs: number): boolean {
    return this.#kept(nowMs).some((row) => row.keyHash === keyHash)
  }

  running(relay: string, nowMs: number): StreamRow[] {
    const isOf = ({ subscription }: StreamRow) => subscription.startsWith(`${relay}/`)
    return [...this.rows.values()].filter((row) => isOf(row) && row.restMs === null && row.untilMs > nowMs - UNPAID_MS)
  }

  presences(): RelayPresence[] {
    return [...this.relays.values()]
  }

  putPresence(presence: RelayPresence): void {
    if (presence.sockets === 0) this.relays.delete(presence.relay)
    else this.relays.set(presence.relay, presence)
  }

  #kept(nowMs: number): StreamRow[] {
    return [...this.rows.values()].filter((row) => (row.restMs ?? 0) > 0 && row.keptUntilMs > nowMs)
  }
}
