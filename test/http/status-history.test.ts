// The routes of the history with a Monitor and a list of incidents that are not there.

import { describe, expect, it } from 'vitest'
import { statusHistoryRoutes } from '../../src/http/status-history.route.ts'
import type { AvailabilityHistory } from '../../src/monitor/history.ts'
import type { Incident } from '../../src/monitor/incidents.ts'

const NOW = Date.UTC(2026, 10, 30)
const HISTORY: AvailabilityHistory = { components: [], hour: [], bundle: null }
const incident = (id: number, closed: number | null): Incident => ({
  id,
  kind: 'incident',
  title: `Incident ${id}`,
  components: [],
  state: 'resolved',
  starts: null,
  ends: null,
  created: 1,
  closed,
  updates: [{ number: id, at: NOW, state: 'resolved', message: '<b>' }],
})

function gateway(publicUrl = '') {
  const calls = { history: 0, list: 0 }
  const state = { nowMs: NOW, isFailing: false }
  const app = statusHistoryRoutes({
    monitor: () => ({
      history: async () => {
        calls.history++
        if (state.isFailing) throw new Error('reset')
        return HISTORY
      },
      bundle: async (untilMs) => (untilMs === NOW ? '{}\n' : null),
    }),
    incidents: {
      list: async () => {
        calls.list++
        return [incident(3, null), incident(2, NOW - 1), incident(1, 5)]
      },
    },
    publicUrl,
    requestId: () => 'req_1',
    now: () => state.nowMs,
  })
  const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
  const get = async (path: string) => app.request(`http://gateway.example${path}`, {}, {}, context as never)
  return { get, calls, state }
}

describe('the history', () => {
  it('has the incidents that are open or recent, and is read once for all callers of some time', async () => {
    const { get, calls, state } = gateway()
    const replies = await Promise.all([1, 2, 3].map(() => get('/status/history.json')))
    const [body] = await Promise.all(replies.map((reply) => reply.json() as Promise<{ incidents: Incident[] }>))
    expect(body).toMatchObject(HISTORY)
    expect(body?.incidents.map(({ id }) => id)).toEqual([3, 2])
    await get('/status/incidents.rss')
    expect(calls).toEqual({ history: 1, list: 1 })
    state.nowMs += 20_000
    await get('/status/history.json')
    expect(calls).toEqual({ history: 2, list: 2 })
  })

  it('is the last known one while the Monitor does not answer, and else unavailable', async () => {
    const { get, state } = gateway()
    state.isFailing = true
    const refused = await get('/status/history.json')
    expect([refused.status, (await get('/status/incidents.rss')).status]).toEqual([503, 503])
    expect(await refused.json()).toMatchObject({ error_message: expect.stringContaining('history is unavailable') })
    state.isFailing = false
    state.nowMs += 1_000
    expect((await get('/status/history.json')).status).toBe(200)
    state.nowMs += 60_000
    state.isFailing = true
    expect((await get('/status/history.json')).status).toBe(200)
    state.nowMs += 600_000
    expect((await get('/status/history.json')).status).toBe(503)
  })
})

it.each([
  ['', 'http://gateway.example'],
  ['https://api.example.com', 'https://api.example.com'],
])('the feed with the public URL %j links to %s', async (publicUrl, origin) => {
  const feed = await gateway(publicUrl).get('/status/incidents.rss')
  expect(feed.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
  const text = await feed.text()
  expect(text.match(/<item>/g)).toHaveLength(2)
  expect(text).toContain(`<link>${origin}/status#incident-3</link>`)
})

describe('a bundle', () => {
  it('is a download that may be cached', async () => {
    const reply = await gateway().get(`/status/history.ndjson?until=${NOW}`)
    expect(await reply.text()).toBe('{}\n')
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="availability-${NOW}.ndjson"`)
    expect(reply.headers.get('cache-control')).toContain('immutable')
  })

  it.each(['', '?until=', '?until=x', `?until=${NOW + 1}`, '?until=1e3', `?until=${'9'.repeat(16)}`])(
    'does not exist with %j',
    async (query) => {
      expect((await gateway().get(`/status/history.ndjson${query}`)).status).toBe(404)
    },
  )
})
