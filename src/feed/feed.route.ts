// GET /feed: the one door of feeders, behind FEED_TOKEN; and what the log tells of itself.

import { Hono } from 'hono'
import { gateBySecret } from '../core/secret.ts'
import type { BlockLogApi, LogStatus } from './log-api.ts'

export interface FeedEnv {
  readonly FEED_TOKEN?: string
}

/** The log as the route needs it. */
export type LogStub = Pick<BlockLogApi, 'status'> & Pick<Fetcher, 'fetch'>

/** How long an isolate repeats the log's last status: a public page must not load the log. */
const STATUS_MS = 1000

/** `GET /feed` (an upgrade) and `GET /status`; `more` is what else stands there. */
export function feedRoutes<Env extends FeedEnv>(log: () => LogStub, nowMs: () => number, more: () => Promise<object>) {
  const app = new Hono<{ Bindings: Env }>()
  let seen: { readonly at: number; readonly status: LogStatus; readonly more: object } | null = null

  app.get('/feed', async (c) => {
    const gate = gateBySecret(c.req.header('authorization'), c.env.FEED_TOKEN)
    if (gate === 'closed') return c.notFound()
    if (gate === 'refused')
      return c.json(problem(401, 'The feed token is missing or wrong: send "Authorization: Bearer <FEED_TOKEN>".'), 401)
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket')
      return c.json(problem(426, 'Connect with a WebSocket client.'), 426)
    return log().fetch('http://log/feed', { headers: { upgrade: 'websocket' } })
  })

  app.get('/status', async (c) => {
    if (!seen || nowMs() - seen.at >= STATUS_MS) {
      const [status, others] = await Promise.all([log().status(), more()])
      seen = { at: nowMs(), status, more: others }
    }
    const { v: _, ...status } = seen.status
    // A node that stands still shows here first: everything else goes on answering with what it has.
    return c.json({ ...status, lagMs: status.time === null ? null : nowMs() - status.time, ...seen.more })
  })
  return app
}

const problem = (status: number, message: string) => ({
  error: true,
  error_message: message,
  error_code: String(status),
})
