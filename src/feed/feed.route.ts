// GET /feed: the one door of feeders, behind FEED_TOKEN; and what the log tells of itself.

import { Hono } from 'hono'
import { gateBySecret } from '../core/secret.ts'
import type { BlockLogApi } from './log-api.ts'
import type { LogStatus, SourcesStatus } from './status-shape.ts'

export interface FeedEnv {
  readonly FEED_TOKEN?: string
}

/** The log as the route needs it. */
export type LogStub = Pick<BlockLogApi, 'status'> & Pick<Fetcher, 'fetch'>

/** Counts a request with a wrong token; the right one never waits. `waitMs`: 0 while there were few. */
type WrongToken = (request: Request) => { readonly waitMs: number }

const WRONG = 'The feed token is missing or wrong: send "Authorization: Bearer <FEED_TOKEN>".'

/** How long an isolate repeats the log's last status: a public page must not load the log. */
const STATUS_MS = 1000

/** `GET /feed` (an upgrade) and `GET /status`. */
export function feedRoutes<Env extends FeedEnv>(
  log: () => LogStub,
  nowMs: () => number,
  sources: () => Promise<SourcesStatus>,
  wrongToken: WrongToken,
) {
  const app = new Hono<{ Bindings: Env }>()
  let seen: { readonly at: number; readonly status: LogStatus; readonly sources: SourcesStatus } | null = null

  app.get('/feed', async (c) => {
    const gate = gateBySecret(c.req.header('authorization'), c.env.FEED_TOKEN)
    if (gate === 'closed') return c.notFound()
    if (gate === 'refused') {
      const seconds = Math.ceil(wrongToken(c.req.raw).waitMs / 1000)
      const wait = ` Wrong ones are looked at again in ${seconds} s.`
      if (seconds > 0) return c.json(problem(429, WRONG + wait), 429, { 'retry-after': String(seconds) })
      return c.json(problem(401, WRONG), 401)
    }
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket')
      return c.json(problem(426, 'Connect with a WebSocket client.'), 426)
    return log().fetch('http://log/feed', { headers: { upgrade: 'websocket' } })
  })

  app.get('/status', async (c) => {
    if (!seen || nowMs() - seen.at >= STATUS_MS) {
      const [{ v: _, ...status }, others] = await Promise.all([log().status(), sources()])
      seen = { at: nowMs(), status, sources: others }
    }
    const { time } = seen.status
    return c.json({ ...seen.status, lagMs: time === null ? null : nowMs() - time, ...seen.sources })
  })
  return app
}

const problem = (status: number, message: string) => ({
  error: true,
  error_message: message,
  error_code: String(status),
})
