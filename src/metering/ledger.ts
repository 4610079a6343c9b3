// The rules of an account's balance, over integers of micro-credits. `decide…` answers events, `evolve…` applies one.
// Laws (test/metering/ledger.test.ts): nothing goes below zero; granted = available + held + spent; what is given to a
// lease is settled, returned or reclaimed; repeating a cumulative report changes nothing.

import type { MicroCredits } from '../core/amount.ts'
import type { KeyHash } from '../core/ids.ts'
import type { AccountState } from './account-state.ts'
import type { LeaseRequest } from './lease-api.ts'

/** A lease counts from when the isolate sent its request; the meter waits this much longer before it reclaims. */
export const LEASE_TTL_MS = 30_000
export const RECLAIM_GRACE_MS = 30_000

export interface Lease {
  readonly id: string
  readonly keyHash: KeyHash
  readonly granted: MicroCredits
  /** Cumulative spend that has been accounted for. */
  readonly settled: MicroCredits
  /** Unix ms of the meter's clock after which the isolate may no longer spend. */
  readonly untilMs: number
  readonly open: boolean
}

/** A lease as a request opens it, before the first event. */
export function newLease(request: LeaseRequest): Lease {
  return { id: request.lease, keyHash: request.keyHash, granted: 0, settled: 0, untilMs: 0, open: true }
}

export type LedgerEvent =
  | { readonly type: 'granted'; readonly amount: MicroCredits }
  /** The rest of a plan's period: no longer granted. */
  | { readonly type: 'expired'; readonly amount: MicroCredits }
  | { readonly type: 'charged'; readonly amount: MicroCredits }
  /** A charge for what could not be served is undone. */
  | { readonly type: 'refunded'; readonly amount: MicroCredits }
  | { readonly type: 'leased'; readonly amount: MicroCredits; readonly untilMs: number }
  | { readonly type: 'settled'; readonly amount: MicroCredits }
  /** Spent under a lease that was already reclaimed, or by a pipeline: charged as far as balance and cap go, the rest written off. */
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

/** The lease after one event; events of the account alone leave it as it is. */
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

/** Null where the sum would leave exact integers. */
export function decideGrant(account: AccountState, amount: MicroCredits): LedgerEvent | null {
  return Number.isSafeInteger(account.granted + amount) ? { type: 'granted', amount } : null
}

/** Null where less than `amount` is available. */
export function decideCharge(account: AccountState, amount: MicroCredits): LedgerEvent | null {
  return account.available >= amount ? { type: 'charged', amount } : null
}

/**
 * Accounts for what is new of a cumulative sum, of which `settled` is accounted for: first what is `held` for it, then, since it
 * was served already, as far as balance and room go; the rest is written off. What is told again, or late, changes nothing.
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

/** What an exchange about a lease does, in order. `outcome` is what the isolate is told. */
interface LeaseDecision {
  readonly events: readonly LedgerEvent[]
  readonly outcome: 'ok' | 'exhausted' | 'revoked' | 'gone'
}

/**
 * `lease` is the row of `request.lease`, null when there is none. Spending is accounted for first and always:
 * it has happened. A lease of another key is treated as unknown. `room` is what the key's own cap leaves.
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
    // An unknown lease with spending is one whose row is long gone: nothing says whether it was counted.
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
  // What was settled within the lease was held, and so had left the room before.
  const late = after.spent - account.spent - (account.held - after.held)
  const more = decideMore(after, request, nowMs, room - late)
  // What changes nothing is not written, and its deadline stays: requests are asked for every few seconds.
  const isIdle = events.length === 0 && more.amount === 0 && lease.untilMs - nowMs > LEASE_TTL_MS / 2
  if (isIdle) return { events: [], outcome: more.outcome }
  return { events: [...events, ...more.events], outcome: more.outcome }
}

/** The end of a lease that its isolate did not close in time; null while it may still be used. */
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

// How large a lease is. Invariant: never more than is available; near the end of a balance exactly what waiting calls need, so
// that the last credit is found by whoever asks and not held by an idle isolate.

/** A forecast may take at most this part of what is available: many isolates share it. */
const FORECAST_SHARE = 16

/** Below this multiple of the call at hand, every call goes to the meter. */
const CALL_BY_CALL_BELOW = 64

/** An account with more than 1 % of its spending written off gets no forecasts. */
const WRITTEN_OFF_SHARE = 100

/** Micro-credits to add to a lease; null where less than `need` is available. */
export function grantSize(
  account: AccountState,
  request: Pick<LeaseRequest, 'need' | 'waiting' | 'forecast'>,
): MicroCredits | null {
  const { available } = account
  if (available < request.need) return null
  const waiting = request.need === 0 ? 0 : Math.min(Math.max(request.waiting, request.need), available)
  const callByCall =
    available < request.need * CALL_BY_CALL_BELOW || account.writtenOff * WRITTEN_OFF_SHARE > account.spent
  if (callByCall) return waiting
  return Math.max(waiting, Math.min(request.forecast, Math.floor(available / FORECAST_SHARE)))
}
