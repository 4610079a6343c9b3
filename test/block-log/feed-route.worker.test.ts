// The route on which feeders connect: refusals before the block log is involved.

import { createExecutionContext, env, runInDurableObject } from 'cloudflare:test'
import { expect, it, vi } from 'vitest'
import { Objects } from '../../src/core/objects.client.ts'
import { type FeedDeps, type FeedEnv, feedRoutes, type LogStub } from '../../src/http/feed.route.ts'

const TOKEN = 'feed-token-of-thirty-two-letters'
const log = {
  fetch: async (url: string, { headers }: RequestInit) => new Response(`${url} ${JSON.stringify(headers)}`),
} as unknown as LogStub
const DEPS: FeedDeps = {
  log: () => log,
  logStatus: () => Promise.reject(new Error('not requested')),
  sources: async () => ({ sources: [], routes: {}, chains: [] }),
  wrongToken: () => ({ waitMs }),
  nowMs: () => 0,
}
const app = feedRoutes<FeedEnv>(DEPS)
let waitMs = 0
const knock = async (headers: Record<string, string>, FEED_TOKEN?: string) =>
  (await app.request('/feed', { headers }, FEED_TOKEN === undefined ? {} : { FEED_TOKEN })).status

// FEED-1
it('opens only with the token, and is 404 while the token is unset or too short', async () => {
  const upgrade = { upgrade: 'websocket' }
  const right = { ...upgrade, authorization: `Bearer ${TOKEN}` }
  expect(await knock(right)).toBe(404)
  expect(await knock({ ...upgrade, authorization: `Bearer ${TOKEN.slice(1)}` }, TOKEN.slice(1))).toBe(404)
  expect(await knock(upgrade, TOKEN)).toBe(401)
  expect(await knock({ ...upgrade, authorization: `Bearer ${TOKEN}x` }, TOKEN)).toBe(401)
  expect(await knock({ authorization: `Bearer ${TOKEN}` }, TOKEN)).toBe(426)
  const answer = await app.request('/feed', { headers: right }, { FEED_TOKEN: TOKEN })
  expect(await answer.text()).toBe('http://log/feed {"upgrade":"websocket"}')
})

// FEED-1
it('limits wrong tokens, and accepts the right one immediately', async () => {
  waitMs = 2_001
  const refused = await app.request('/feed', { headers: { authorization: 'Bearer wrong' } }, { FEED_TOKEN: TOKEN })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
  expect(await knock({ upgrade: 'websocket', authorization: `Bearer ${TOKEN}` }, TOKEN)).toBe(200)
})

it('asks the log at most once a second, however many isolates ask', async () => {
  const { BLOCK_LOG } = env as unknown as Cloudflare.Env
  // A cache of its own in front of the log that all files of this project share.
  const objects = new Objects(env as unknown as Cloudflare.Env, { CHAIN: 'many isolates', FEED_REGION: null })
  const asked = await runInDurableObject(BLOCK_LOG.getByName('hyperliquid'), (object) =>
    vi.spyOn(Object.getPrototypeOf(object), 'status'),
  )
  const isolates = Array.from({ length: 500 }, () =>
    feedRoutes<FeedEnv>({ ...DEPS, logStatus: () => objects.statusCache().status(), nowMs: () => isolateMs }),
  )
  let isolateMs = 0
  const startMs = Date.now()
  for (let second = 0; second < 3; second++) {
    isolateMs = second * 1000
    const ask = (app: (typeof isolates)[number]) => app.request('/status', {}, {}, createExecutionContext())
    const answers = await Promise.all(isolates.map(ask))
    expect(answers.map(({ status }) => status)).toEqual(Array.from(isolates, () => 200))
  }
  expect(asked.mock.calls.length).toBeGreaterThan(0)
  expect(asked.mock.calls.length).toBeLessThanOrEqual(1 + (Date.now() - startMs) / 1000)
  asked.mockRestore()
})

it("requests the log's status once for concurrent callers, and again a second later", async () => {
  let asked = 0
  let now = 0
  let answer = (_: object) => {}
  const slow = () => {
    asked++
    return new Promise<object>((resolve) => {
      answer = resolve
    })
  }
  const logStatus = slow as FeedDeps['logStatus']
  const busy = feedRoutes<FeedEnv>({ ...DEPS, logStatus, nowMs: () => now })
  const statuses = async () => {
    const all = Array.from({ length: 50 }, async () =>
      (await busy.request('/status', {}, {}, createExecutionContext())).json(),
    )
    await expect.poll(() => asked).toBeGreaterThan(0)
    answer({ v: 1, atMs: 0, state: 'live', time: -5 })
    return Promise.all(all)
  }
  const expected = { state: 'live', time: -5, lagMs: 5, sources: [], routes: {}, chains: [] }
  expect(await statuses()).toEqual(Array.from({ length: 50 }, () => expected))
  expect(asked).toBe(1)
  now = 1_000
  asked = 0
  expect(await statuses()).toHaveLength(50)
  expect(asked).toBe(1)
})

it('tells load balancers whether the feed is live, and supervisors that the gateway responds', async () => {
  let now = 0
  let state = 'link_down'
  const logStatus = (async () => ({ v: 1, atMs: 0, state, advice: 'Start a feeder.', time: null })) as unknown
  const probed = feedRoutes<FeedEnv>({ ...DEPS, logStatus: logStatus as FeedDeps['logStatus'], nowMs: () => now })
  const ask = async (path: string) => {
    const answer = await probed.request(path, {}, {}, createExecutionContext())
    return [answer.status, await answer.json()]
  }
  expect(await ask('/status/ready')).toEqual([503, { state: 'link_down', advice: 'Start a feeder.' }])
  now += 1_000
  state = 'live'
  expect(await ask('/status/ready')).toEqual([200, { state: 'live', advice: 'Start a feeder.' }])
  // The log does not respond here.
  expect((await app.request('/status/live')).status).toBe(200)
})
