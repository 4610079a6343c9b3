// Balance rules over integer micro-credits. `decide…` returns events, `evolve…` applies one. Invariants
// (test/metering/ledger.test.ts): no amount is negative; granted = available + held + spent; leased credits are
// settled, returned or reclaimed; repeating a cumulative report changes nothing.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import type { AccountState } from './account-state.ts'
import type { LeaseRequest } from './lease-api.ts'

/**
 * An isolate may spend from a lease for LEASE_TTL_MS after it sends its request. The meter waits RECLAIM_GRACE_MS
 * longer before it reclaims the lease.
 */
export const LEASE_TTL_MS = 30_000
export const RECLAIM_GRACE_MS = 30_000

export interface Lease {
  readonly id: string
  readonly keyHash: KeyHash
  readonly granted: MicroCredits
  /** Cumulative spending already accounted for. */
  readonly settled: MicroCredits
  /** Time by the meter's clock, in Unix ms, after which the isolate may no longer spend. */
  readonly untilMs: number
  readonly open: boolean
}

/** A new lease for a request, before its first event. */
export function newLease(request: LeaseRequest): Lease {
  return { id: request.lease, keyHash: request.keyHash, granted: 0, settled: 0, untilMs: 0, open: true }
}

export type LedgerEvent =
  | { readonly type: 'granted'; readonly amount: MicroCredits }
  /** Unused credits of a plan's period, removed from `granted`. */
  | { readonly type: 'expired'; readonly amount: MicroCredits }
  | { readonly type: 'charged'; readonly amount: MicroCredits }
  /** Refund of a charge for something that could not be served. */
  | { readonly type: 'refunded'; readonly amount: MicroCredits }
  | { readonly type: 'leased'; readonly amount: MicroCredits; readonly untilMs: number }
  | { readonly type: 'settled'; readonly amount: MicroCredits }
  /** Spending of a reclaimed lease or a pipeline: charged up to the balance and the cap. The rest is written off. */
  | { readonly type: 'settled_late'; readonly charged: MicroCredits; readonly writtenOff: MicroCredits }
  | { readonly type: 'returned'; readonly amount: MicroCredits }
  | { readonly type: 'reclaimed'; readonly amount: MicroCredits }

/** The account after one event. */
export function evolveAccount(a: AccountState, event: LedgerEvent): AccountState {
  switch (event.type) {
    case 'granted':
      return { ...a, granted: a.granted + event.amount, available: a.available + event.amount }
    case 'expired':
      return { ...a, granted: a.granted - event.amount, available: a.available - event.amount }
    case 'charged':
      return { ...a, available: a.available - event.amount, spent: a.spent + event.amount }
    case 'refunded':
      return { ...a, available: a.available + event.amount, spent: a.spent - event.amount }
    case 'leased':
      return { ...a, available: a.available - event.amount, held: a.held + event.amount }
    case 'settled':
      return { ...a, held: a.held - event.amount, spent: a.spent + event.amount }
    case 'settled_late':
      return {
        ...a,
        available: a.available - event.charged,
        spent: a.spent + event.charged,
        writtenOff: a.writtenOff + event.writtenOff,
      }
    case 'returned':
    case 'reclaimed':
      return { ...a, held: a.held - event.amount, available: a.available + event.amount }
  }
}

/** The lease after one event. Account-only events do not change it. */
export function evolveLease(lease: Lease, event: LedgerEvent): Lease {
  switch (event.type) {
    case 'granted':
    case 'expired':
    case 'charged':
    case 'refunded':
      return lease
    case 'leased':
      return { ...lease, granted: lease.granted + event.amount, untilMs: event.untilMs }
    case 'settled':
      return { ...lease, settled: lease.settled + event.amount }
    case 'settled_late': {
      const settled = lease.settled + event.charged + event.writtenOff
      return { ...lease, settled, granted: Math.max(lease.granted, settled) }
    }
    case 'returned':
    case 'reclaimed':
      return { ...lease, open: false }
  }
}

/** Null if the sum would exceed exact integers. */
export function decideGrant(account: AccountState, amount: MicroCredits): LedgerEvent | null {
  return Number.isSafeInteger(account.granted + amount) ? { type: 'granted', amount } : null
}

/** Null if less than `amount` is available. */
export function decideCharge(account: AccountState, amount: MicroCredits): LedgerEvent | null {
  return account.available >= amount ? { type: 'charged', amount } : null
}

/**
 * Charges the spending since the last report, which is `spent` minus `settled`. It was already served, so it is taken
 * first from `held`, then from the available balance up to `room`. The rest is written off. Repeated and late reports
 * change nothing.
 */
export function decideReport(
  account: AccountState,
  settled: MicroCredits,
  spent: MicroCredits,
  held: MicroCredits,
  room: number,
): LedgerEvent[] {
  const inside = Math.min(spent - settled, held)
  const late = spent - settled - inside
  const charged = Math.min(late, account.available, room)
  return [
    ...(inside > 0 ? [{ type: 'settled', amount: inside } as const] : []),
    ...(late > 0 ? [{ type: 'settled_late', charged, writtenOff: late - charged } as const] : []),
  ]
}

/** Events of a lease exchange, in order, and the outcome sent to the isolate. */
interface LeaseDecision {
  readonly events: readonly LedgerEvent[]
  readonly outcome: 'ok' | 'exhausted' | 'revoked' | 'gone'
}

/**
 * `lease` is the row of `request.lease`, or null. Spending is always accounted for first, because it has happened. A
 * lease of another key counts as unknown. `room` is the amount that the key's cap still allows.
 */
export function decideLease(
  account: AccountState,
  lease: Lease | null,
  request: LeaseRequest,
  revoked: boolean,
  nowMs: number,
  room: number = Number.POSITIVE_INFINITY,
): LeaseDecision {
  if (lease === null) {
    // The row of such a lease was deleted long ago, so nobody can tell whether its spending was counted.
    if (request.close || request.spent > 0) return { events: [], outcome: revoked ? 'revoked' : 'gone' }
    return revoked ? { events: [], outcome: 'revoked' } : decideMore(account, request, nowMs, room)
  }
  if (lease.keyHash !== request.keyHash) return { events: [], outcome: 'gone' }
  const held = lease.open ? lease.granted - lease.settled : 0
  const events: LedgerEvent[] = decideReport(account, lease.settled, request.spent, held, room)
  if (!lease.open) return { events, outcome: revoked ? 'revoked' : 'gone' }
  const settledLease = events.reduce(evolveLease, lease)
  if (request.close) {
    const rest = settledLease.granted - settledLease.settled
    return { events: [...events, { type: 'returned', amount: rest }], outcome: revoked ? 'revoked' : 'ok' }
  }
  if (revoked) return { events, outcome: 'revoked' }
  const after = events.reduce(evolveAccount, account)
  // Spending settled within the lease was held, so `room` already excludes it.
  const late = after.spent - account.spent - (account.held - after.held)
  const more = decideMore(after, request, nowMs, room - late)
  // An exchange without changes is not written and keeps its deadline, because request tokens are fetched every few
  // seconds.
  const isIdle = events.length === 0 && more.amount === 0 && lease.untilMs - nowMs > LEASE_TTL_MS / 2
  if (isIdle) return { events: [], outcome: more.outcome }
  return { events: [...events, ...more.events], outcome: more.outcome }
}

/** Ends a lease that its isolate did not close in time; null while it is still valid. */
export function decideReclaim(lease: Lease, nowMs: number): LedgerEvent | null {
  if (!lease.open || nowMs < lease.untilMs + RECLAIM_GRACE_MS) return null
  return { type: 'reclaimed', amount: lease.granted - lease.settled }
}

function decideMore(account: AccountState, request: LeaseRequest, nowMs: number, room: number) {
  const granted = grantSize({ ...account, available: Math.min(account.available, room) }, request)
  const amount = granted ?? 0
  const event: LedgerEvent = { type: 'leased', amount, untilMs: nowMs + LEASE_TTL_MS }
  return { amount, events: [event], outcome: granted === null ? ('exhausted' as const) : ('ok' as const) }
}

// Rules for the size of a lease. Invariants: a lease never gets more than the available credits; when the balance is
// nearly exhausted, it gets exactly what the waiting calls need, so that no idle isolate holds the last credits. A lease
// gets whole calls: if several isolates held parts of calls, the last calls would be refused to each of them.

/** A forecast may add at most one part in this many of the available credits, because many isolates share them. */
const FORECAST_SHARE = 16

/**
 * If the account has less than this many times the price of the current call, every call goes to the meter. If no call
 * waits, so that the price is unknown, a forecast needs as many times its own amount.
 */
const AHEAD_ABOVE = 64

/** No forecasts for an account with more than 1 % of its spending written off. */
const WRITTEN_OFF_SHARE = 100

/** Whether so much was written off that nothing may be spent ahead of its report. */
export function isOftenWrittenOff({ writtenOff, spent }: Pick<AccountState, 'writtenOff' | 'spent'>): boolean {
  return writtenOff * WRITTEN_OFF_SHARE > spent
}

/** Micro-credits to add to a lease; null if less than `need` is available. */
export function grantSize(
  account: AccountState,
  request: Pick<LeaseRequest, 'need' | 'waiting' | 'forecast'>,
): MicroCredits | null {
  const { available } = account
  const { need, forecast } = request
  if (available < need) return null
  const waiting = need === 0 ? 0 : Math.min(Math.max(request.waiting, need), available)
  if (available < (need || forecast) * AHEAD_ABOVE || isOftenWrittenOff(account)) return waiting
  // A part of a forecast would rarely be whole calls.
  if (need === 0) return forecast
  return Math.max(waiting, wholeCalls(Math.min(forecast, Math.floor(available / FORECAST_SHARE)), need))
}

/** The part of `amount` that pays whole calls of this price. A price of 0 means that it is unknown. */
export function wholeCalls(amount: MicroCredits, price: MicroCredits): MicroCredits {
  return price === 0 ? amount : amount - (amount % price)
}
