// Buffers refusals of known callers in memory. Invariants (test/accounts/refused-calls.test.ts): every refusal is
// counted; an account gets a burst of rows and then one per second; the buffer is bounded in rows and bytes; rows
// contain no invisible characters.

import { BoundedMap } from '../core/bounded-map.ts'
import { type Failure, type FailureCode, failureCode, failureMessage } from '../core/failure.ts'
import type { AccountId, KeyHash } from '../core/ids.ts'
import { withoutSecrets } from '../core/secret.ts'
import { HOUR_MS } from '../core/time.ts'
import { type Bucket, fullBucket, type Rate, takeTokens } from '../core/token-bucket.ts'
import { visible } from '../core/visible.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import type { Product } from './identity.ts'

interface KnownCaller {
  readonly account: AccountId
  readonly keyHash: KeyHash
}

/** The rejected request; `type` is empty if it was not parsed. */
export interface RefusedCall {
  readonly caller: KnownCaller
  readonly requestId: string
  readonly product: Product
  readonly type: string
  readonly failure: Failure | { readonly kind: 'conflict'; readonly message: string }
}

export interface RefusalRow extends KnownCaller {
  readonly at: number
  readonly requestId: string
  readonly product: string
  readonly type: string
  readonly code: FailureCode | 'conflict'
  readonly message: string
}

export interface RefusalCount {
  readonly hour: number
  readonly account: AccountId
  readonly code: string
  readonly count: number
}

export interface RefusalBatch {
  readonly rows: readonly RefusalRow[]
  readonly counts: readonly RefusalCount[]
}

/** Callback given to every surface that rejects calls. The work continues in the background. */
export type RecordRefusal = (call: RefusedCall, waitUntil: WaitUntil) => void

/**
 * Rows per account. The burst is enough for a person to inspect, and the later rate shows that the refusals continue.
 */
const ROWS_OF_ACCOUNT: Rate = { perSecond: 1, burst: 50 }
const ACCOUNTS_MAX = 1_000
const ROWS_MAX = 500
/** Maximum number of counters. There is one per account per hour per code, and there are about twenty codes. */
const COUNTS_MAX = 5_000
const TYPE_CHARS = 64
const MESSAGE_CHARS = 300

export class RefusalBuffer {
  readonly #rates = new BoundedMap<string, Bucket>(ACCOUNTS_MAX)
  #rows: RefusalRow[] = []
  #counts = new Map<string, RefusalCount>()

  record({ caller: { account, keyHash }, requestId, product, type, failure }: RefusedCall, nowMs: number): void {
    const code = refusalCode(failure)
    this.#count({ hour: nowMs - (nowMs % HOUR_MS), account, code, count: 1 })
    const before = this.#rates.get(account) ?? fullBucket(ROWS_OF_ACCOUNT, nowMs)
    const { bucket, taken } = takeTokens(before, ROWS_OF_ACCOUNT, 1, nowMs)
    this.#rates.set(account, bucket)
    if (taken === 0 || this.#rows.length >= ROWS_MAX) return
    const message = sanitized(failure.kind === 'conflict' ? failure.message : failureMessage(failure), MESSAGE_CHARS)
    this.#rows.push({
      at: nowMs,
      requestId,
      account,
      keyHash,
      product,
      type: shownType(type),
      code,
      message,
    })
  }

  /** Returns and clears the buffer; null if it is empty. */
  take(): RefusalBatch | null {
    if (this.#counts.size === 0) return null
    const batch = { rows: this.#rows, counts: [...this.#counts.values()] }
    this.#rows = []
    this.#counts = new Map()
    return batch
  }

  /** Puts an unsaved batch back, as far as there is room. */
  giveBack({ rows, counts }: RefusalBatch): void {
    for (const count of counts) this.#count(count)
    this.#rows = [...rows, ...this.#rows].slice(-ROWS_MAX)
  }

  #count(one: RefusalCount): void {
    const name = `${one.hour} ${one.account} ${one.code}`
    const known = this.#counts.get(name)
    if (known === undefined && this.#counts.size >= COUNTS_MAX) return
    this.#counts.set(name, { ...one, count: one.count + (known?.count ?? 0) })
  }
}

export const refusalCode = (failure: RefusedCall['failure']) =>
  failure.kind === 'conflict' ? 'conflict' : failureCode(failure)

/** A requested type as its key's owner sees it. */
export const shownType = (type: string) => sanitized(type, TYPE_CHARS)

/** Truncates first, so a long string costs no more than a short one. Redacts keys that were sent in the wrong field. */
function sanitized(text: string, max: number): string {
  const whole = visible(withoutSecrets(text.slice(0, max))).slice(0, max)
  // Removes the first half of a surrogate pair if its second half was cut off.
  return whole.replace(/[\uD800-\uDBFF]$/, '')
}
