// Status of the upstream sources and the route of each type, as seen by this isolate, for `GET /status`. Contains names
// and numbers only, because source URLs may contain keys.

import type { RoutedSource, RoutedUpstream } from '../../upstream/routed-upstream.ts'
import type { HealthView } from '../../upstream/source-health.ts'
import { CATALOGUE } from '../queries/catalogue.ts'
import { type AnyQuery, upstreamTypesOf, usesHistory, usesUpstream } from '../query.ts'

export interface InfoStatus {
  readonly sources: readonly SourceStatus[]
  readonly routes: Readonly<Record<string, RouteStatus>>
}

/**
 * Our own sources, which are used before the upstream. Without an archive, the log is too short to serve types
 * that upstreams also serve.
 */
function ownSources(query: AnyQuery, isArchived: boolean): readonly string[] {
  const isTooShort = !isArchived && usesUpstream(query) && query.needs.includes('events')
  if (usesHistory(query) && !isTooShort) return ['own history']
  return usesUpstream(query) ? [] : ['own books']
}

export async function infoStatus(
  upstream: Pick<RoutedUpstream, 'sources' | 'route'>,
  nowMs: number,
  isArchived: boolean,
): Promise<InfoStatus> {
  const sources = await Promise.all(upstream.sources.map((source) => sourceStatus(source, nowMs)))
  const routes = CATALOGUE.map((query): [string, RouteStatus] => {
    const upstreamRoutes = upstreamTypesOf(query).map((type) => [type, upstream.route(type)] as const)
    const { now, next } = routeStatus(upstreamRoutes, nowMs)
    return [query.type, { now: [...ownSources(query, isArchived), ...now], next }]
  })
  return { sources, routes: Object.fromEntries(routes) }
}

interface SourceStatus extends HealthView {
  readonly name: string
  /** Last known lag of its clock; null: unknown. */
  readonly lagMs: number | null
  /** True if the source is used last, because its lag exceeds `maxLagMs`. */
  readonly late: boolean
  /** Null: no budget. `left` is null if the budget object does not respond. */
  readonly budget: { readonly perMinute: number; readonly left: number | null } | null
}

/** Names of the sources that serve a type now, and of the fallbacks. */
interface RouteStatus {
  readonly now: readonly string[]
  readonly next: readonly string[]
}

async function sourceStatus(source: RoutedSource, nowMs: number): Promise<SourceStatus> {
  const { config, health, lag, budget } = source
  const lagMs = lag.lagMs(nowMs)
  const left = budget === null ? null : ((await budget.remaining())?.weight ?? null)
  return {
    name: config.name,
    ...health.view(nowMs),
    lagMs,
    late: lagMs !== null && lagMs > config.maxLagMs,
    budget: config.budget === undefined ? null : { perMinute: config.budget, left },
  }
}

/** `routes` lists the sources of each upstream type that a response needs, in order of use. */
function routeStatus(
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
