// The life of one payment, an authorization to transfer that a wallet signed (ERC-3009). The chain takes its nonce once:
// ```
//   (none) ─ verified ─▶ reserved ─ answered ─▶ settling ─ taken ─▶ settled ─▶ booked as a call, or as credits
//                           │                      ├─ refused ──▶ failed ──(made after all)──▶ settled, or unclear
//                           └─ released: free for  └─ unknown: asked again until it expires ─▶ settled, failed, unclear
//                              the same request
// ```
// Invariants: a payment serves the request that it was made for, and no other; at most one request holds it; a payment
// is answered only after it was settled; a settled one is booked once, with a charge if and only if it was answered; an
// unclear one is never booked. payments.ts performs the steps.

import type { Product } from '../../accounts/identity.ts'
import type { AccountId } from '../../core/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts'
import type { Quote } from '../checkout/prices.ts'

/** Signed by the wallet. Hex is in lower case; numbers are decimal, times in Unix seconds. */
export interface Authorization {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
}

/** Payment that the gateway requests: `PaymentRequirements` of x402. */
export interface Requirement {
  readonly scheme: 'exact'
  readonly network: `${string}:${string}`
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
}

/** A signed payment, and what it is for. */
export interface PaymentOrder extends Quote {
  readonly account: AccountId
  /** Null: credits. */
  readonly call: { readonly product: Product; readonly type: string } | null
  /** Network of the caller's address; empty: unknown. The chain shows a payment to everybody, but only its caller may repeat it. */
  readonly caller: string
  /** Hash of the request and the requirement. */
  readonly digest: string
  readonly requirement: Requirement
  readonly authorization: Authorization
  readonly signature: string
}

export interface Payment {
  readonly order: PaymentOrder
  readonly state: 'reserved' | 'settling' | 'failed' | 'settled' | 'unclear'
  /** Number of the request that holds the payment, and the time until which no other one can take it. */
  readonly holder: number
  readonly leaseMs: number
  /** Number of attempts at the current step. */
  readonly attempts: number
  /** When the next step is due. */
  readonly dueMs: number
  /** Reason of a failed or unclear payment. */
  readonly why: string | null
  readonly transaction: string | null
  readonly settledMs: number
  /** Answers so far, and the time of the first one. */
  readonly answers: number
  readonly answeredMs: number
  readonly booking: 'call' | 'credits' | null
  /** The books have it, or it has failed for good. */
  readonly isDone: boolean
}

/** Longer than any request. */
const LEASE_MS = MINUTE_MS
/** Longer than an attempt at the facilitator and the look at the chain. */
export const ATTEMPT_MS = MINUTE_MS
/** An authorization that expires later than this is refused, so that payments without an outcome end. */
export const VALID_MAX_MS = HOUR_MS
/** After its expiry, the chain cannot take a payment. The margin covers clocks and blocks. */
const MARGIN_MS = MINUTE_MS
/** Leaves time to answer and to settle. */
const VALID_MIN_MS = 20_000
/** Facilitators refuse an authorization that is about to expire, and then no longer say whether its nonce was used. */
const LAST_ASK_MS = 7_000
/** When they are asked for the last time whether a payment was made that was refused, or not asked for. */
const LAST_CHECK_MS = 15_000
/** How long a payer may repeat the request of a settled payment, and how often. */
export const REPEAT_MS = 10 * MINUTE_MS
export const ANSWERS_MAX = 4
const KEEP_MS = 90 * DAY_MS
/** A chain that cannot be read for this long leaves the payment to the operator. */
const GIVE_UP_MS = HOUR_MS

export const nonceOf = ({ order }: Payment) => order.authorization.nonce
export const expiryMs = ({ authorization }: Pick<PaymentOrder, 'authorization'>) =>
  Number(authorization.validBefore) * 1000
const endMs = ({ order }: Payment) => expiryMs(order) + MARGIN_MS

/** Why a payment is not taken. `busy`, `pending`, `unavailable` and `too_many` pass; the others do not. */
export type RefusalKind =
  | 'busy'
  | 'pending'
  | 'unavailable'
  | 'invalid'
  | 'other_request'
  | 'failed'
  | 'used'
  | 'credited'
  | 'unclear'
  | 'too_many'

export interface PaymentRefusal {
  readonly kind: RefusalKind
  /** For `invalid` and `failed`: the reason of the facilitator. */
  readonly why?: string
  readonly retryMs?: number
}

type Decision =
  | { readonly step: 'verify' }
  | { readonly step: 'answer'; readonly payment: Payment }
  | { readonly step: 'refuse'; readonly refusal: PaymentRefusal }

const EXPIRED: PaymentRefusal = { kind: 'failed', why: 'it expired, or is about to' }

const refuse = (refusal: PaymentRefusal): Decision => ({ step: 'refuse', refusal })

/** Decides about a request with a payment. `known`: what is stored about the payment. */
export function begin(known: Payment | null, order: PaymentOrder, nowMs: number): Decision {
  const isTimely = nowMs < expiryMs(order) - VALID_MIN_MS
  const verify: Decision = isTimely ? { step: 'verify' } : refuse(EXPIRED)
  if (known === null) return verify
  if (known.order.digest !== order.digest) return refuse({ kind: 'other_request' })
  const isLeased = nowMs < known.leaseMs
  switch (known.state) {
    case 'reserved':
      return isLeased ? refuse({ kind: 'busy' }) : verify
    case 'settling':
      return refuse({ kind: 'pending', retryMs: Math.max(1_000, known.dueMs - nowMs) })
    case 'failed':
      return refuse({ kind: 'failed', ...(known.why !== null && { why: known.why }) })
    case 'unclear':
      return refuse({ kind: 'unclear' })
    case 'settled':
      return answerAgain(known, order.caller, nowMs, isLeased)
  }
}

function answerAgain(known: Payment, caller: string, nowMs: number, isLeased: boolean): Decision {
  const { order, answers, booking, settledMs, answeredMs } = known
  if (order.call !== null && order.caller !== caller) return refuse({ kind: 'used' })
  if (order.call !== null && answers === 0) {
    if (booking !== null) return refuse({ kind: 'credited' })
    return isLeased ? refuse({ kind: 'busy' }) : { step: 'answer', payment: held(known, nowMs) }
  }
  if (answers >= ANSWERS_MAX || nowMs >= Math.max(settledMs, answeredMs) + REPEAT_MS) return refuse({ kind: 'used' })
  return { step: 'answer', payment: { ...known, answers: answers + 1 } }
}

/** A verified payment, held by a new request. */
export function reserved(known: Payment | null, order: PaymentOrder, nowMs: number): Payment {
  const blank = {
    attempts: 0,
    why: null,
    transaction: null,
    settledMs: 0,
    answers: 0,
    answeredMs: 0,
    booking: null,
    isDone: false,
  }
  return held({ ...blank, order, state: 'reserved', holder: known?.holder ?? 0, leaseMs: 0, dueMs: 0 }, nowMs)
}

const held = (payment: Payment, nowMs: number): Payment =>
  scheduled({ ...payment, holder: payment.holder + 1, leaseMs: nowMs + LEASE_MS })

/** The request of `holder` was not answered. */
export function released(known: Payment, holder: number, nowMs: number): Payment {
  if (holder !== known.holder || known.leaseMs <= nowMs) return known
  return scheduled({ ...known, leaseMs: nowMs })
}

type Ending =
  | { readonly step: 'ask'; readonly payment: Payment }
  | { readonly step: 'settled'; readonly payment: Payment }
  | { readonly step: 'refuse'; readonly refusal: PaymentRefusal }

/** Decides about an answer that is ready. */
export function ending(known: Payment | null, holder: number, nowMs: number): Ending {
  // The request took longer than the payment was valid.
  if (known === null) return { step: 'refuse', refusal: EXPIRED }
  if (holder !== known.holder) return { step: 'refuse', refusal: { kind: 'busy' } }
  if (known.state === 'settled' && known.answers > 0) return { step: 'settled', payment: known }
  if (known.state === 'reserved')
    return isOpen(known, nowMs) ? { step: 'ask', payment: asking(known, nowMs) } : { step: 'refuse', refusal: EXPIRED }
  if (known.state === 'settled' && known.booking === null) return { step: 'settled', payment: answered(known, nowMs) }
  if (known.state === 'failed') return { step: 'refuse', refusal: { kind: 'failed', why: known.why ?? '' } }
  return { step: 'refuse', refusal: { kind: known.state === 'settled' ? 'credited' : 'pending' } }
}

/** To be stored before the facilitator is asked to settle. After a crash, the next step is due at the end of the attempt. */
export function asking(known: Payment, nowMs: number): Payment {
  return { ...known, state: 'settling', attempts: known.attempts + 1, dueMs: nowMs + ATTEMPT_MS }
}

export function answered(known: Payment, nowMs: number): Payment {
  return scheduled({ ...known, answers: known.answers + 1, answeredMs: nowMs, leaseMs: nowMs })
}

/**
 * Outcome of an attempt to settle. `failed` is a refusal, for the facilitator's reason `why`. `used`:
 * the nonce was used, and it is not known whether the payment was made.
 */
export type Outcome =
  | { readonly kind: 'settled'; readonly transaction: string }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'used' }
  /** The chain shows that the nonce was used, but not to pay. */
  | { readonly kind: 'void' }
  | { readonly kind: 'unknown' }

/** `retryMs`: time until the next attempt. */
export function concluded(known: Payment, outcome: Outcome, nowMs: number, retryMs: number): Payment {
  switch (outcome.kind) {
    case 'settled':
      return settled(known, outcome.transaction, nowMs)
    case 'failed':
      // After an attempt with an unknown outcome, a refusal does not prove that the attempt failed.
      if (known.attempts > 1) return retried(known, nowMs, retryMs)
      return scheduled({ ...known, state: 'failed', attempts: 0, why: outcome.why })
    case 'used':
      return unclear(known, 'The nonce was used, and no chain was asked whether the payment was made.', nowMs)
    case 'void':
      return ended(known, 'its nonce was used for something else')
    case 'unknown':
      return retried(known, nowMs, retryMs)
  }
}

function settled(known: Payment, transaction: string, nowMs: number): Payment {
  return scheduled({
    ...known,
    state: 'settled',
    attempts: 0,
    why: null,
    transaction,
    settledMs: nowMs,
    leaseMs: nowMs,
  })
}

export function unclear(known: Payment, why: string, nowMs: number): Payment {
  return { ...known, state: 'unclear', attempts: 0, why, dueMs: nowMs, leaseMs: nowMs }
}

/** The payment was not made. It is kept until its authorization has expired, so that no other request can use it. */
export function ended(known: Payment, why: string): Payment {
  return { ...known, state: 'failed', why, isDone: true, dueMs: endMs(known) }
}

/** The payment is in the books, as `booking`. */
export function booked(known: Payment): Payment {
  return { ...known, isDone: true, dueMs: Math.max(known.settledMs, known.dueMs) + KEEP_MS }
}

/** A settled payment with the decision how to book it, to be stored before it is booked. It does not change anymore. */
export function toBook(known: Payment): Payment {
  const { booking, order, answers } = known
  return { ...known, booking: booking ?? (order.call !== null && answers > 0 ? 'call' : 'credits') }
}

/** Whether facilitators still deal with the payment, and know whether it was made. */
export const isOpen = ({ order }: Payment, nowMs: number) => nowMs < expiryMs(order) - LAST_ASK_MS
/** Whether the chain cannot take the payment anymore, so that its state is final. */
export const isFinal = (payment: Payment, nowMs: number) => nowMs >= endMs(payment)
/** Whether the chain should have been readable for long enough. */
export const isLost = (payment: Payment, nowMs: number) => nowMs >= endMs(payment) + GIVE_UP_MS

export const retried = (known: Payment, nowMs: number, retryMs: number): Payment => ({
  ...known,
  dueMs: nowMs + retryMs,
})

/** The payment with the time of its next step. */
function scheduled(payment: Payment): Payment {
  return { ...payment, dueMs: dueMs(payment) }
}

function dueMs(payment: Payment): number {
  const { state, leaseMs, settledMs, answeredMs, answers, order, isDone, dueMs: due } = payment
  if (state === 'reserved' || state === 'failed') return Math.max(expiryMs(order) - LAST_CHECK_MS, leaseMs)
  if (state !== 'settled') return due
  if (isDone) return due
  if (answers > 0) return answeredMs
  return order.call === null ? settledMs : Math.max(settledMs + REPEAT_MS, leaseMs)
}

/**
 * The step that is due. `resolve`: find out whether the payment was made, and ask for it again. `check`: find out
 * whether a payment was made after all that was refused, or that the gateway did not ask for.
 */
export type Step = 'none' | 'resolve' | 'check' | 'book' | 'report' | 'delete'

export function stepOf(payment: Payment, nowMs: number): Step {
  if (nowMs < payment.dueMs) return 'none'
  switch (payment.state) {
    case 'settling':
      return 'resolve'
    case 'reserved':
    case 'failed':
      return payment.isDone ? 'delete' : 'check'
    case 'settled':
      return payment.isDone ? 'delete' : 'book'
    case 'unclear':
      return payment.isDone ? 'delete' : 'report'
  }
}
