// The feeders' door, before the log is asked anything.

import { expect, it } from 'vitest'
import { type FeedEnv, feedRoutes, type LogStub } from '../../src/feed/feed.route.ts'

const TOKEN = 'feed-token-of-thirty-two-letters'
const log = {
  fetch: async (url: string, { headers }: RequestInit) => new Response(`${url} ${JSON.stringify(headers)}`),
} as unknown as LogStub
const app = feedRoutes<FeedEnv>(
  () => log,
  () => 0,
  async () => ({ sources: [], routes: {} }),
  () => ({ waitMs }),
)
let waitMs = 0
const knock = async (headers: Record<string, string>, FEED_TOKEN?: string) =>
  (await app.request('/feed', { headers }, FEED_TOKEN === undefined ? {} : { FEED_TOKEN })).status

// FEED-1
it('opens to the token alone, and is not there while the token is unset or short', async () => {
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
it('bounds wrong tokens, and lets the right one in at once', async () => {
  waitMs = 2_001
  const refused = await app.request('/feed', { headers: { authorization: 'Bearer wrong' } }, { FEED_TOKEN: TOKEN })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
  expect(await refused.json()).toMatchObject({ error_message: expect.stringMatching(/token is missing or wrong/) })
  expect(await knock({ upgrade: 'websocket', authorization: `Bearer ${TOKEN}` }, TOKEN)).toBe(200)
})
