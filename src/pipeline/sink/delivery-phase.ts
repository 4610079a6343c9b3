// What a delivery is doing, in a word for its owner.

import type { SinkPhase } from '../sink-api.ts'
import type { DeliveryState, Order } from './delivery-state.ts'

/** So far behind it is live, beside what it gathers for. */
const LIVE_MS = 10_000

interface Doing {
  readonly isSending: boolean
  /** What keeps the next batch from being sent. */
  readonly waitsFor: 'credits' | 'meter' | 'key' | null
  /** How far the destination is behind the log. */
  readonly lagMs: number | null
}

export function phaseOf(state: DeliveryState, order: Order, { isSending, waitsFor, lagMs }: Doing): SinkPhase {
  const { isFailed, isFinished, flight, at } = state
  if (!order.isRunning || waitsFor === 'key') return isSending ? 'pausing' : 'paused'
  if (isWorking(state, order) && waitsFor) return waitsFor === 'credits' ? 'unpaid' : 'retrying'
  if (isFailed) return 'failed'
  if (isFinished) return 'finished'
  if (flight && (isSending ? flight.attempts > 1 : flight.attempts > 0 || flight.nextTryMs > 0)) return 'retrying'
  if (at === null) return 'idle'
  return lagMs === null || lagMs > LIVE_MS + order.gatherMs ? 'backfilling' : 'live'
}

/** Whether there is anything that may be sent. */
export function isWorking({ isFailed, isFinished, isRedelivering }: DeliveryState, { isRunning }: Order): boolean {
  return isRunning && ((!isFailed && !isFinished) || isRedelivering)
}
