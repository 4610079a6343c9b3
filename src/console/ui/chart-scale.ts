// Axes of charts. Invariants: the steps of an axis are round whole numbers; the last one reaches the largest value; marks of days lie within their range, at most `most` of them.

import { DAY_MS } from '../../core/time.ts'

/** Values of the horizontal lines from 0 up to at least `max`, about `count` steps of whole numbers. */
export function axisSteps(max: number, count = 4): number[] {
  const rough = Math.max(max, 1) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10
  const step = Math.max(1, Math.ceil(factor * power))
  const steps = Math.ceil(Math.max(max, 1) / step)
  return Array.from({ length: steps + 1 }, (_, i) => i * step)
}

const DAY_STEPS = [1, 2, 7, 14, 28, 56, 91, 182, 364, 728]
const LONGEST_STEP = 1_820

/** Times of the marks of a time axis, from its start. */
export function dayMarks(fromMs: number, toMs: number, most: number): number[] {
  const days = (toMs - fromMs) / DAY_MS
  const step = DAY_STEPS.find((each) => days / each < most) ?? LONGEST_STEP
  const count = Math.min(Math.floor(days / step) + 1, most)
  return Array.from({ length: count }, (_, i) => fromMs + i * step * DAY_MS)
}

/** Index of the point nearest to a place. `at` ascends; empty: -1. */
export function nearestPoint(points: readonly { readonly at: number }[], at: number): number {
  let best = -1
  let leastDistance = Number.POSITIVE_INFINITY
  for (const [i, point] of points.entries()) {
    const distance = Math.abs(point.at - at)
    if (distance < leastDistance) {
      best = i
      leastDistance = distance
    }
  }
  return best
}
