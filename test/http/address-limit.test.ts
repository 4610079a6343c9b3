import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { AddressLimiter } from '../../src/accounts/address-limiter.ts'
import { addressLimit } from '../../src/http/common-replies.route.ts'

const LIMIT = { name: 'address', quota: 3, windowSeconds: 1 }

it('a limited surface announces the limit on every reply, in addition to its own', async () => {
  let now = 0
  const gate = new AddressLimiter({ each: LIMIT, unknown: { ...LIMIT, quota: 5 } })
  let served = 0
  const appOf = (isProxyTrusted: boolean) => {
    const app = new Hono()
    app.use('/platform/*', addressLimit(gate, { isProxyTrusted, requestId: () => 'req_1', now: () => now }))
    app.get('/platform/key', (c) => {
      served++
      return c.json({}, 200, { ratelimit: '"rest";r=3;t=1', 'ratelimit-policy': '"rest";q=4;w=1' })
    })
    return app
  }
  const trusting = appOf(true)
  const wary = appOf(false)
  const ask = async (path = '/platform/key', address = '192.0.2.1', app = trusting) => {
    const answer = await app.request(path, { headers: { 'cf-connecting-ip': address } })
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
  }
  const first = await ask()
  expect([first.status, first.headers]).toMatchObject([
    200,
    { ratelimit: '"rest";r=3;t=1, "address";r=2;t=1', 'ratelimit-policy': '"rest";q=4;w=1, "address";q=3;w=1' },
  ])
  // Unknown endpoints below it count too.
  expect((await ask('/platform/nothing')).headers.ratelimit).toBe('"address";r=1;t=1')
  await ask()
  const refused = await ask()
  expect([refused.status, served, JSON.parse(refused.body)]).toMatchObject([429, 2, { error: true, error_code: '429' }])
  expect(refused.headers).toMatchObject({
    'retry-after': '1',
    ratelimit: '"address";r=0;t=1',
    'ratelimit-policy': '"address";q=3;w=1',
  })
  expect((await ask('/platform/key', '198.51.100.1')).status).toBe(200)
  // Addresses that anybody could claim are not distinguished.
  for (let i = 0; i < 5; i++) expect((await ask('/platform/key', `10.0.0.${i}`, wary)).status).toBe(200)
  expect((await ask('/platform/key', '10.0.0.9', wary)).status).toBe(429)
  now = 334
  expect((await ask()).status).toBe(200)
})
