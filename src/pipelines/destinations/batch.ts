// A batch on its way: its name, and what becomes of it.

import type { Column } from '../../archive/files/columns.ts'
import type { Row } from '../topics/topic.ts'

export interface Batch {
  /** `<pipeline>:<from>-<to>`: the same at every try. */
  readonly id: string
  readonly pipeline: string
  readonly topic: string
  readonly from: number
  readonly to: number
  /** In the order of blocks. */
  readonly rows: readonly Row[]
  /** JSON of each row. */
  readonly texts: readonly string[]
  /** Of the rows; null where they are what transforms made. */
  readonly columns: readonly Column[] | null
}

export interface DeliverySuccess {
  readonly ok: true
  readonly bytes: number
  /** To be paid for. */
  readonly billedRows: number
}
/**
 * `words`: for the owner. `isFinal`: another try of the same can come to nothing else. `isUntried`: nothing was run or sent, and
 * `retryAfterMs` is when it may be. `unpaidRows`: what is left does not pay for so many rows.
 */
export interface DeliveryFailure {
  readonly ok: false
  readonly message: string
  readonly retryAfterMs?: number
  readonly isFinal?: true
  readonly isNotAttempted?: true
  readonly unpaidRows?: number
}
/** Of a try. */
export type AttemptResult = Omit<DeliverySuccess, 'billedRows'> | DeliveryFailure
export type DeliveryResult = DeliverySuccess | DeliveryFailure

export function batchId(pipeline: string, from: number, to: number): string {
  return `${pipeline}:${from}-${to}`
}
