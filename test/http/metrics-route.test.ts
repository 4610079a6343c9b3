// GET /metrics: the token, and the response.

import { expect, it } from 'vitest'
import { metricsRoutes } from '../../src/http/metrics.route.ts'
import type { SourcesStatus } from '../../src/protocol/feed/sources-shape.ts'

const TOKEN = 'metrics-token-of-this-test-file-0001'
const limit = { name: 'wrong tokens', quota: 1, windowSeconds: 60 }

function over(token: string | undefined, waitMs = 0) {
  const wrong: Request[] = []
  let scrapes = 0
  const app = metricsRoutes({
    token,
    monitor: () => ({
      scrape: async () => {
        scrapes++
        return { v: 1, nowMs: 0, sums: [], gauges: [], status: null }
      },
    }),
    sources: async () => ({ sources: [] }) as unknown as SourcesStatus,
    wrongToken: (request) => {
      wrong.push(request)
      return { waitMs, remaining: 0, limit }
    },
    requestId: () => 'req_1',
  })
  const get = (authorization?: string, accept = 'application/openmetrics-text;version=1.0.0') =>
    app.request('/metrics', { headers: { accept, ...(authorization !== undefined && { authorization }) } })
  return { get, wrong, scrapes: () => scrapes }
}

it('serves OpenMetrics text to the right token', async () => {
  const { get, wrong } = over(TOKEN)
  const response = await get(`Bearer ${TOKEN}`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toMatch(/weir_up 0\n[\s\S]*# EOF\n$/)
  expect(wrong).toEqual([])
})

it('serves the older format to a client that does not name OpenMetrics', async () => {
  const response = await over(TOKEN).get(`Bearer ${TOKEN}`, '*/*')
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await response.text()).toMatch(/# TYPE weir_requests_total counter\n[\s\S]*weir_up 0\n/)
})

it.each([undefined, '', 'x'.repeat(31)])('does not exist with the token %j', async (token) => {
  const { get, wrong } = over(token)
  expect((await get(`Bearer ${token}`)).status).toBe(404)
  expect(wrong).toEqual([])
})

it('counts wrong tokens per address and asks nothing', async () => {
  const { get, wrong, scrapes } = over(TOKEN)
  expect((await get()).status).toBe(401)
  expect((await get(`Bearer ${TOKEN}x`)).status).toBe(401)
  expect(wrong).toHaveLength(2)
  const limited = over(TOKEN, 5_000)
  const response = await limited.get('Bearer wrong')
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe('5')
  expect((await limited.get(`Bearer ${TOKEN}`)).status).toBe(200)
  expect(scrapes()).toBe(0)
})
