// In which order the sources of a type are asked.

import type { Budget } from './leased-budget.ts'
import type { SourceHealth } from './source-health.ts'
import type { SourceLag } from './source-lag.ts'
import type { UpstreamSource } from './sources.ts'
import type { UpstreamAnswer } from './upstream-api.ts'

/** A source with what this isolate knows of it. */
export interface RoutedSource {
  readonly config: UpstreamSource
  readonly health: SourceHealth
  readonly lag: SourceLag
  /** Null: it grants as much as is asked, and costs no round trip. */
  readonly budget: Budget | null
}

/**
 * As configured, but last those whose clock is late by more than `maxLagMs` against the freshest of them, and those that
 * seem not to serve the type. Where all are late (the exchange stands still, or our own clock is wrong) none is passed
 * over; a lag that is not known counts as none.
 */
export function routeOf(sources: readonly RoutedSource[], type: string, nowMs: number): readonly RoutedSource[] {
  if (sources.length < 2) return sources
  const least = Math.min(...sources.map(({ lag }) => lag.lagMs(nowMs) ?? 0))
  const isLast = ({ config, health, lag }: RoutedSource) =>
    (lag.lagMs(nowMs) ?? 0) - least > config.maxLagMs || health.isDoubtful(type, nowMs)
  const last = sources.filter(isLast)
  return last.length === 0 ? sources : [...sources.filter((source) => !isLast(source)), ...last]
}

/** How late an answer of this source has to be called: nothing within its bound. */
export function latenessOf({ config, lag }: RoutedSource, nowMs: number): Pick<UpstreamAnswer, 'lagMs'> {
  const lagMs = lag.lagMs(nowMs)
  return lagMs !== null && lagMs > config.maxLagMs ? { lagMs } : {}
}
