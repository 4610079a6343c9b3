// Where each type's answers come from at this moment, for `GET /status`.

import type { RoutedUpstream } from '../../upstream/routed-upstream.ts'
import { type RouteStatus, routeStatus, type SourceStatus, sourceStatus } from '../../upstream/status.ts'
import { CATALOGUE } from '../catalogue.ts'
import { type AnyQuery, asksHistory, asksUpstream, upstreamTypesOf } from '../query.ts'

export interface InfoStatus {
  readonly sources: readonly SourceStatus[]
  readonly routes: Readonly<Record<string, RouteStatus>>
}

const ownRoute = (query: AnyQuery): RouteStatus => ({
  now: [asksHistory(query) ? 'own history' : 'own books'],
  next: [],
})

export async function infoStatus(
  upstream: Pick<RoutedUpstream, 'sources' | 'route'>,
  nowMs: number,
): Promise<InfoStatus> {
  const sources = await Promise.all(upstream.sources.map((source) => sourceStatus(source, nowMs)))
  const routes = CATALOGUE.map((query): [string, RouteStatus] => {
    const asked = upstreamTypesOf(query).map((type) => [type, upstream.route(type)] as const)
    return [query.type, asksUpstream(query) ? routeStatus(asked, nowMs) : ownRoute(query)]
  })
  return { sources, routes: Object.fromEntries(routes) }
}
