// Where each type's answers come from at this moment, for `GET /status`.

import type { RoutedUpstream } from '../../upstream/routed-upstream.ts'
import { type RouteStatus, routeStatus, type SourceStatus, sourceStatus } from '../../upstream/status.ts'
import { CATALOGUE } from '../catalogue.ts'
import { type AnyQuery, asksHistory, asksUpstream, upstreamTypesOf } from '../query.ts'

export interface InfoStatus {
  readonly sources: readonly SourceStatus[]
  readonly routes: Readonly<Record<string, RouteStatus>>
}

/** What of our own comes before every source: without an archive the log is too short for what sources know, too. */
function ownSources(query: AnyQuery, isArchived: boolean): readonly string[] {
  const isTooShort = !isArchived && asksUpstream(query) && query.needs.includes('past')
  if (asksHistory(query) && !isTooShort) return ['own history']
  return asksUpstream(query) ? [] : ['own books']
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
