// What `GET /status` tells of sources, as this isolate sees them, and of where each type's answers come from: names and
// numbers, never addresses, which may hold keys.

import type { RoutedSource, RoutedUpstream } from '../../upstream/routed-upstream.ts'
import type { HealthView } from '../../upstream/source-health.ts'
import { CATALOGUE } from '../queries/catalogue.ts'
import { type AnyQuery, upstreamTypesOf, usesHistory, usesUpstream } from '../query.ts'

export interface InfoStatus {
  readonly sources: readonly SourceStatus[]
  readonly routes: Readonly<Record<string, RouteStatus>>
}

/** What of our own comes before every source: without an archive the log is too short for what sources know, too. */
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
    const asked = upstreamTypesOf(query).map((type) => [type, upstream.route(type)] as const)
    const { now, next } = routeStatus(asked, nowMs)
    return [query.type, { now: [...ownSources(query, isArchived), ...now], next }]
  })
  return { sources, routes: Object.fromEntries(routes) }
}

interface SourceStatus extends HealthView {
  readonly name: string
  /** How late its clock was when last seen; null where it does not tell. */
  readonly lagMs: number | null
  /** Asked last, because it is later than `maxLagMs`. */
  readonly late: boolean
  /** Null: none. `left` is null while the budget cannot be reached. */
  readonly budget: { readonly perMinute: number; readonly left: number | null } | null
}

/** Names of the sources that a type would be asked of now: the first, and those behind it. */
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

/** `routes` holds the sources of each upstream type that an answer is made of, in the order of asking. */
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
