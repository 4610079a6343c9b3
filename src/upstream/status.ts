// What an isolate tells of its sources on `GET /status`: names and numbers, never addresses, which may hold keys.
// Other isolates may see a source differently; budgets alone are shared.

import type { RoutedSource } from './route.ts'
import type { HealthView } from './source-health.ts'

export interface SourceStatus extends HealthView {
  readonly name: string
  /** How late its clock was when last seen; null where it does not tell. */
  readonly lagMs: number | null
  /** Asked last, because it is later than `maxLagMs`. */
  readonly late: boolean
  /** Null: none. `left` is null while the budget cannot be reached. */
  readonly budget: { readonly perMinute: number; readonly left: number | null } | null
}

/** Names of the sources that a type would be asked of now: the first, and those behind it. */
export interface RouteStatus {
  readonly now: readonly string[]
  readonly next: readonly string[]
}

/** Looks at one source; asks its budget object, if it has one. */
export async function sourceStatus(source: RoutedSource, nowMs: number): Promise<SourceStatus> {
  const { config, health, lag, budget } = source
  const lagMs = lag.lagMs(nowMs)
  const left = budget === null ? null : ((await budget.left())?.weight ?? null)
  return {
    name: config.name,
    ...health.view(nowMs),
    lagMs,
    late: lagMs !== null && lagMs > config.maxLagMs,
    budget: config.budget === undefined ? null : { perMinute: config.budget, left },
  }
}

/** `routes` holds the sources of each upstream type that an answer is made of, in the order of asking. */
export function routeStatus(
  routes: readonly (readonly [type: string, sources: readonly RoutedSource[]])[],
  nowMs: number,
): RouteStatus {
  const now = new Set<string>()
  const next = new Set<string>()
  for (const [type, sources] of routes) {
    const ready = sources.filter(({ health }) => health.waitMs(type, nowMs) === 0).map(({ config }) => config.name)
    const [first, ...rest] = ready
    if (first !== undefined) now.add(first)
    for (const name of rest) next.add(name)
  }
  return { now: [...now], next: [...next].filter((name) => !now.has(name)) }
}
