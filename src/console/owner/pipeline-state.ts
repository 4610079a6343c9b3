// How the state of a pipeline is shown.

import type { Responses } from '../responses.ts'

type Status = Responses['pipelineStatus']

/** The color of a phase: in order, waiting, or in need of the owner. */
export function phaseTone(phase: Status['phase']): 'fine' | 'near' | 'high' | '' {
  switch (phase) {
    case 'live':
    case 'backfilling':
    case 'finished':
      return 'fine'
    case 'retrying':
    case 'pausing':
      return 'near'
    case 'unpaid':
    case 'failed':
      return 'high'
    default:
      return ''
  }
}

/** Whether a backfill in this phase may still deliver rows. */
export const isUnderWay = (phase: Status['phase']): boolean => phase !== 'finished'

type Backfill = NonNullable<Responses['pipelineBackfill']['backfill']>

/** The delivered part of a backfill, from 0 to 1. */
export function partDone({ from, to, blocks_left: left }: Pick<Backfill, 'from' | 'to' | 'blocks_left'>): number {
  return left === null ? 0 : Math.min(1, Math.max(0, 1 - left / (to - from + 1)))
}

export interface MinuteColumn {
  readonly name: string
  readonly atMs: number
  readonly rows: number
  readonly failures: number
  readonly lagMs: number | null
}

const MINUTE_MS = 60_000

/** One column per minute up to now, including minutes without activity. */
export function minuteColumns(
  items: Responses['pipelineMetrics']['items'],
  minutes: number,
  nowMs: number,
): MinuteColumn[] {
  const known = new Map(items.map((item) => [Date.parse(item.time), item]))
  const lastMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  return Array.from({ length: minutes }, (_, i) => {
    const atMs = lastMs - (minutes - 1 - i) * MINUTE_MS
    const item = known.get(atMs)
    return {
      name: new Date(atMs).toISOString().slice(11, 16),
      atMs,
      rows: item?.rows ?? 0,
      failures: item?.failures ?? 0,
      lagMs: item?.lag_ms ?? null,
    }
  })
}
