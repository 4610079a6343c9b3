// Layout of the charts of the last day. Invariant: the columns and the lines of an hour are at the same place.

import type { Responses } from '../responses.ts'

type Hour = Responses['ownLogHours']['hours'][number]
type Quantile = 'p50_ms' | 'p99_ms'

interface Plane {
  readonly width: number
  readonly height: number
  /** The value at the full height. */
  readonly top: number
}

/** Middle of an hour, as a share of the width. */
export const middleOf = (index: number, count: number) => (index + 0.5) / Math.max(count, 1)

/** The SVG path of a quantile. Hours without calls interrupt it; a lone hour is a short line. */
export function latencyPath(hours: readonly Hour[], quantile: Quantile, { width, height, top }: Plane): string {
  const half = width / Math.max(hours.length, 1) / 4
  return hours
    .map(({ latency }, i) => {
      if (latency === null) return ''
      const x = middleOf(i, hours.length) * width
      const y = rounded(height - (Math.min(latency[quantile], top) / top) * height)
      const isFirst = (hours[i - 1]?.latency ?? null) === null
      const isLone = isFirst && (hours[i + 1]?.latency ?? null) === null
      if (isLone) return `M${rounded(x - half)} ${y}H${rounded(x + half)}`
      return `${isFirst ? 'M' : 'L'}${rounded(x)} ${y}`
    })
    .join('')
}

const rounded = (of: number) => Math.round(of * 10) / 10
