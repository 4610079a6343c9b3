// Creates the info service of an isolate and its upstream from the bindings.

import type { BooksArchive } from '../archive/replay/archived-books.ts'
import type { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import type { RoutedUpstream } from '../upstream/routed-upstream.ts'
import type { UpstreamSource } from '../upstream/sources.ts'
import { fetchUpstream, type UpstreamPlatform } from '../upstream/upstream.client.ts'
import { cacheStore, kvStore } from './answer/answer-stores.store.ts'
import { exampleRequest } from './answer/call.ts'
import { InfoService, type InfoServiceDeps } from './answer/info-service.ts'
import type { Sources } from './ports.ts'
import { hubBooks } from './sources/books.client.ts'
import { DexList } from './sources/dex-list.ts'
import { archivedBooks } from './sources/historical-books.ts'

const now = () => Date.now()

interface UpstreamParts extends Pick<UpstreamPlatform, 'waitUntil' | 'secrets'> {
  readonly objects: Pick<Objects, 'budget'>
}

export function infoUpstream(
  sources: readonly UpstreamSource[],
  { objects, ...platform }: UpstreamParts,
): RoutedUpstream {
  return fetchUpstream(sources, {
    ...platform,
    budgetOf: (source) => objects.budget(source),
    exampleOf: exampleRequest,
  })
}

interface ServiceParts extends Pick<Sources, 'history' | 'events'>, Pick<InfoServiceDeps, 'report'> {
  /** The gateway's origin. Null before the first request. */
  readonly origin: () => string | null
  readonly objects: Pick<Objects, 'hub'>
  readonly upstream: RoutedUpstream
  readonly archive: BooksArchive | null
}

export function infoService(
  { KEYS }: Pick<Cloudflare.Env, 'KEYS'>,
  { CHAIN, BOOK_HUBS }: { readonly CHAIN: string; readonly BOOK_HUBS: number },
  { objects, upstream, archive, history, events, report, origin }: ServiceParts,
): InfoService {
  const books = hubBooks({ shards: BOOK_HUBS, hub: (index) => objects.hub(index) })
  const historicalBooks = archivedBooks({ archive, live: books, after })
  return new InfoService({
    sources: { books, historicalBooks, upstream, dexes: new DexList(upstream, now, after), history, events, after },
    stores: { region: cacheStore(caches.default, CHAIN, origin), network: kvStore(KEYS, CHAIN) },
    now,
    after,
    report,
  })
}
