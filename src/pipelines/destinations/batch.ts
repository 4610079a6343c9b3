// A batch of rows and the results of delivering it.

import type { Column } from '../../archive/files/columns.ts'
import type { Row } from '../topics/topic.ts'

/** Heights of a batch. `repair`: the number of the repair that its rows are from. */
export interface BatchRange {
  readonly from: number
  readonly to: number
  readonly repair?: number
}

export interface Batch {
  /** `<pipeline>:<from>-<to>`, the same for every attempt; followed by `:repair-<number>` for repaired rows. */
  readonly id: string
  readonly pipeline: string
  readonly topic: string
  readonly from: number
  readonly to: number
  /** In block order. */
  readonly rows: readonly Row[]
  /** JSON of each row. */
  readonly texts: readonly string[]
  /** Columns of the topic; null if transforms produced the rows. */
  readonly columns: readonly Column[] | null
}

export interface DeliverySuccess {
  readonly ok: true
  readonly bytes: number
  /** Rows to bill. */
  readonly billedRows: number
}
/**
 * `message` is for the owner. `isFinal`: a retry would fail the same way. `isNotAttempted`: nothing was run or sent;
 * `retryAfterMs` says when to try. `unpaidRows`: the remaining credits do not cover this many rows.
 */
export interface DeliveryFailure {
  readonly ok: false
  readonly message: string
  readonly retryAfterMs?: number
  readonly isFinal?: true
  readonly isNotAttempted?: true
  readonly unpaidRows?: number
}
/** Result of one attempt at a destination. */
export type AttemptResult = Omit<DeliverySuccess, 'billedRows'> | DeliveryFailure
export type DeliveryResult = DeliverySuccess | DeliveryFailure

export function batchId(pipeline: string, { from, to, repair }: BatchRange): string {
  return `${pipeline}:${from}-${to}${repair === undefined ? '' : `:repair-${repair}`}`
}
