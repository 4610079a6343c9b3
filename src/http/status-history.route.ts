// The public past of the gateway: `GET /status/history.json`, the bundle of its hourly rows, and the RSS feed of incidents.
// Invariant: however many callers there are, each isolate asks the Monitor and D1 at most once in the time that it caches.

import { Hono } from 'hono'
import type { Failure } from '../core/failure.ts'
import { SingleFlights } from '../core/single-flight.ts'
import { HOUR_MS, MINUTE_MS } from '../core/time.ts'
import { after } from '../core/timers.client.ts'
import type { StatusHistory } from '../monitor/history.ts'
import { incidentsFeed, isShown } from '../monitor/incidents.ts'
import type { MonitorApi } from '../monitor/monitor-api.ts'
import { restFailure } from '../protocol/failure-wire.ts'
import type { Platform } from './platform/platform-api.ts'

const CACHED_MS = 20_000
/** While the Monitor or D1 does not answer, an older history is shown for this long, and they are asked this often. */
const STALE_MAX_MS = 10 * MINUTE_MS
const FAILED_MS = 1_000
const WAIT_MAX_MS = 5_000
const INCIDENTS_MAX = 50
/** A bundle of an hour never changes, and its address is in the history for an hour. */
const BUNDLE_MAX_AGE_S = 3_600
/** Older ones are not kept. */
const BUNDLE_MAX_AGE_MS = 4 * HOUR_MS

interface StatusHistoryDeps {
  readonly monitor: () => Pick<MonitorApi, 'history' | 'bundle'>
  readonly incidents: Pick<Platform['incidents'], 'list'>
  /** PUBLIC_URL; empty: the origin of the request. */
  readonly publicUrl: string
  readonly requestId: () => string
  readonly now: () => number
}

const UNAVAILABLE: Failure = { kind: 'unavailable', what: 'The history is unavailable' }
const NO_BUNDLE: Failure = {
  kind: 'not_found',
  what: 'This file',
  hint: 'See "bundle" in GET /status/history.json for the current one.',
}

export function statusHistoryRoutes({ monitor, incidents, publicUrl, requestId, now }: StatusHistoryDeps): Hono {
  const app = new Hono()
  const flights = new SingleFlights<StatusHistory | null>(WAIT_MAX_MS)
  let seen: { readonly atMs: number; readonly value: StatusHistory } | null = null
  let failedMs = Number.NEGATIVE_INFINITY
  const read = async (): Promise<StatusHistory> => {
    const [history, listed] = await Promise.all([monitor().history(), incidents.list(undefined, INCIDENTS_MAX)])
    const value = { ...history, incidents: listed.filter((incident) => isShown(incident, now())) }
    seen = { atMs: now(), value }
    return value
  }
  const fail = () => {
    failedMs = now()
    return null
  }
  /** Null if the Monitor or D1 does not answer. */
  const history = async (keepAlive: (work: Promise<unknown>) => void): Promise<StatusHistory | null> => {
    const nowMs = now()
    if (seen !== null && nowMs - seen.atMs < CACHED_MS) return seen.value
    const older = seen !== null && nowMs - seen.atMs < STALE_MAX_MS ? seen.value : null
    if (Math.abs(nowMs - failedMs) < FAILED_MS) return older
    const flight = flights.join('', () => read().catch(fail), nowMs)
    if (flight.isLeader) keepAlive(flight.result)
    return (await flights.result(flight, null, after)) ?? older
  }
  const bundles = new SingleFlights<string | null | undefined>(WAIT_MAX_MS)
  let kept: { readonly until: string; readonly text: string } | null = null
  const readBundle = async (until: string) => {
    const text = await monitor().bundle(Number(until))
    if (text !== null) kept = { until, text }
    return text
  }
  /** Null if there is none; undefined if the Monitor does not answer. */
  const bundle = async (until: string, keepAlive: (work: Promise<unknown>) => void) => {
    if (kept?.until === until) return kept.text
    const flight = bundles.join(until, () => readBundle(until).catch(() => undefined), now())
    if (flight.isLeader) keepAlive(flight.result)
    return bundles.result(flight, undefined, after)
  }
  const refuse = (failure: Failure) => {
    const { status, headers, body } = restFailure(failure, requestId())
    return new Response(body, { status, headers })
  }
  const cached = { 'cache-control': `public, max-age=${CACHED_MS / 1_000}` }

  app.get('/status/history.json', async (c) => {
    const value = await history((work) => c.executionCtx.waitUntil(work))
    return value === null ? refuse(UNAVAILABLE) : c.json(value, 200, cached)
  })

  app.get('/status/incidents.rss', async (c) => {
    const value = await history((work) => c.executionCtx.waitUntil(work))
    if (value === null) return refuse(UNAVAILABLE)
    const feed = incidentsFeed(value.incidents, new URL(publicUrl || c.req.url).origin)
    return c.body(feed, 200, { 'content-type': 'application/rss+xml; charset=utf-8', ...cached })
  })

  app.get('/status/history.ndjson', async (c) => {
    const until = c.req.query('until') ?? ''
    const isHour = /^\d{1,15}$/.test(until) && Number(until) % HOUR_MS === 0
    const isRecent = Math.abs(now() - Number(until)) < BUNDLE_MAX_AGE_MS
    const text = isHour && isRecent ? await bundle(until, (work) => c.executionCtx.waitUntil(work)) : null
    if (text === undefined) return refuse(UNAVAILABLE)
    if (text === null) return refuse(NO_BUNDLE)
    return c.body(text, 200, {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="availability-${until}.ndjson"`,
      'cache-control': `public, max-age=${BUNDLE_MAX_AGE_S}, immutable`,
    })
  })
  return app
}
