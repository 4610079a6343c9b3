// Where a pipeline begins and ends, as its record has it: text.

import type { Pipeline } from '../pipeline.ts'
import type { Place } from './source.ts'

/** The end of a pipeline, inclusive. */
export type End = { readonly height: number } | { readonly timeMs: number }

const HEIGHT = /^\d{1,15}$/

/** `now`: behind the newest block. */
export function startOf(text: string): Place | 'now' {
  if (text === '' || text === 'latest') return 'now'
  if (text === 'earliest') return { first: true }
  return HEIGHT.test(text) ? { height: Number(text) } : { timeMs: Date.parse(text) }
}

/** `now`: with the newest block; null: never. */
export function endOf({
  execution_mode,
  execution_stop_from: text,
}: Pick<Pipeline, 'execution_mode' | 'execution_stop_from'>): End | 'now' | null {
  if (text === '' && execution_mode === 'continuous') return null
  if (text === '' || text === 'latest') return 'now'
  if (text === 'earliest') return { height: -1 }
  return HEIGHT.test(text) ? { height: Number(text) } : { timeMs: Date.parse(text) }
}

export const isBeyond = (end: End | null, { height, time }: { readonly height: number; readonly time: number }) =>
  end !== null && ('height' in end ? height > end.height : time > end.timeMs)
