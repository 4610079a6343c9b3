// GET /feed: the WebSocket endpoint of feeders, protected by FEED_TOKEN. GET /status: public status of the log and the
// sources. GET /status/live and /status/ready: the same for load balancers and supervisors, which read the HTTP status.

import { type Context, Hono } from 'hono'
import { checkBearerSecret } from '../core/secret.ts'
import { SingleFlights } from '../core/single-flight.ts'
import { after } from '../core/timers.client.ts'
import type { DatedLogStatus } from '../protocol/feed/log-api.ts'
import type { SourcesStatus } from '../protocol/feed/sources-shape.ts'

export interface FeedEnv {
  readonly FEED_TOKEN?: string
}

export type LogStub = Pick<Fetcher, 'fetch'>

/**
 * Counts a request with a wrong token. `waitMs` is 0 until the address has sent too many. The right token never waits.
 */
type WrongToken = (request: Request) => { readonly waitMs: number }

const WRONG_TOKEN_TEXT = 'The feed token is missing or wrong. Send "Authorization: Bearer <FEED_TOKEN>".'

/** Each isolate caches the status this long. The log itself is protected by the object that asks it. */
const STATUS_MS = 1000
/** Concurrent requests share one read and wait at most this long. */
const STATUS_WAIT_MAX_MS = 5000

interface CachedStatus {
  readonly at: number
  readonly body: Omit<DatedLogStatus, 'v' | 'atMs'> & SourcesStatus & { readonly lagMs: number | null }
}

export interface FeedDeps {
  readonly log: () => LogStub
  readonly logStatus: () => Promise<DatedLogStatus>
  readonly sources: () => Promise<SourcesStatus>
  readonly wrongToken: WrongToken
  readonly nowMs: () => number
}

/** `GET /feed` (an upgrade), `GET /status`, and its answers to probes. */
export function feedRoutes<Env extends FeedEnv>({ log, logStatus, sources, wrongToken, nowMs }: FeedDeps) {
  const app = new Hono<{ Bindings: Env }>()
  const flights = new SingleFlights<CachedStatus | null>(STATUS_WAIT_MAX_MS)
  let seen: CachedStatus | null = null
  const readStatus = async (): Promise<CachedStatus> => {
    const [{ v: _, atMs, ...status }, others] = await Promise.all([logStatus(), sources()])
    const lagMs = status.time === null ? null : atMs - status.time
    seen = { at: nowMs(), body: { ...status, lagMs, ...others } }
    return seen
  }
  const status = async ({ executionCtx }: Context): Promise<CachedStatus['body']> => {
    const now = nowMs()
    let latest = seen
    if (latest === null || now - latest.at >= STATUS_MS) {
      const flight = flights.join('', readStatus, now)
      // Other requests may still wait for this read after the caller disconnects.
      if (flight.isLeader) executionCtx.waitUntil(flight.result.catch(() => undefined))
      latest = await flights.result(flight, null, after)
    }
    return (latest ?? (await readStatus())).body
  }

  app.get('/feed', async (c) => {
    const gate = checkBearerSecret(c.req.header('authorization'), c.env.FEED_TOKEN)
    if (gate === 'closed') return c.notFound()
    if (gate === 'refused') {
      const seconds = Math.ceil(wrongToken(c.req.raw).waitMs / 1000)
      const wait = ` Too many wrong tokens from your address. Retry in ${seconds} s.`
      if (seconds > 0) return c.json(problem(429, WRONG_TOKEN_TEXT + wait), 429, { 'retry-after': String(seconds) })
      return c.json(problem(401, WRONG_TOKEN_TEXT), 401)
    }
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket')
      return c.json(problem(426, 'This endpoint needs a WebSocket client.'), 426)
    return log().fetch('http://log/feed', { headers: { upgrade: 'websocket' } })
  })

  app.get('/status', async (c) => c.json(await status(c)))

  // A supervisor restarts a gateway that fails this, so the answer depends on no other part.
  app.get('/status/live', (c) => c.json({ live: true }))

  app.get('/status/ready', async (c) => {
    const { state, advice } = await status(c)
    return c.json({ state, advice }, state === 'live' ? 200 : 503)
  })
  return app
}

const problem = (status: number, message: string) => ({
  error: true,
  error_message: message,
  error_code: String(status),
})
