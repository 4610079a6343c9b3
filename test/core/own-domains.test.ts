// Customer destinations never reach hosts of the operator's own domains, on any surface.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { urlRefusal } from '../../src/core/egress.client.ts'
import { registeredDomain } from '../../src/core/egress.ts'
import { deliverEvent } from '../../src/metering/webhooks/webhook.client.ts'
import { secretText } from '../../src/metering/webhooks/webhook.ts'
import { sendRequest } from '../../src/pipelines/destinations/http.client.ts'
import { serverOf } from '../../src/pipelines/destinations/postgres.client.ts'
import { CLOSED, egressOf } from './egress-of.ts'

const OWN = { PUBLIC_URL: 'https://api.example.com', OWN_ZONES: ['nodes.example'] }
/** In the console's zone, in a configured zone, and in unusual notation. */
const HOSTS = ['node.example.com', 'example.com', 'API.Example.COM', 'node.example.com.', 'a.b.nodes.example']

/** Without the flag, a Worker's request to its own zone goes directly to the origin. */
const reached: string[] = []
beforeAll(() => {
  vi.stubGlobal('fetch', async (input: URL | string) => {
    const { hostname, pathname } = new URL(input)
    if (pathname === '/dns-query') return Response.json({ Answer: [{ type: 1, data: '9.9.9.9' }] })
    reached.push(hostname)
    return new Response('origin reached')
  })
})
afterAll(() => void vi.unstubAllGlobals())

const resolver = { PIPELINE_RESOLVER: 'https://resolver.example/dns-query' }
const event = (url: string) => ({ id: 'evt_1', body: '{}', url, secret: secretText(new Uint8Array(32)) })

describe.each([false, true])("with PIPELINE_PRIVATE %s, a host of the operator's domains", (isPrivateAllowed) => {
  const settings = { ...OWN, ...resolver, PIPELINE_PRIVATE: isPrivateAllowed }
  const words = 'the destination is a host of this service'

  it.each(HOSTS)('%s is rejected by pipelines and webhooks', async (host) => {
    const egress = egressOf(settings)
    const url = `https://${host}/x`
    expect(await sendRequest({ url, headers: {}, body: '' }, egress)).toEqual({ failed: words })
    expect(await deliverEvent(event(url), egress, 0)).toEqual({ delivered: false, answer: words })
    const config = { type: 'postgres', url: `postgres://${host}`, user: 'u', password: 'p', database: 'd', table: 't' }
    const dial = () => expect.fail('dialled')
    expect(await serverOf(config as never, egress, dial, isPrivateAllowed)).toMatchObject({ ok: false, error: words })
    for (const one of [url, config.url, `http://${host}:8443`])
      expect(urlRefusal(one, { ...CLOSED, ...settings })).toMatch(/^must not be /)
    expect(reached).toEqual([])
  })
})

it('both reach other hosts', async () => {
  const egress = egressOf({ ...OWN, ...resolver })
  for (const host of ['hooks.example', 'notexample.com', 'example.com.evil.example', 'nodes.example.org']) {
    reached.length = 0
    const url = `https://${host}/x`
    expect(urlRefusal(url, { ...CLOSED, ...OWN })).toBeNull()
    expect(await sendRequest({ url, headers: {}, body: '' }, egress)).toMatchObject({ status: 200 })
    expect(await deliverEvent(event(url), egress, 0)).toEqual({ delivered: true, answer: '200' })
    expect(reached).toEqual([host, host])
  }
})

it('webhooks, like pipelines, reject private addresses and plain http', async () => {
  reached.length = 0
  const said = async (url: string, change = {}) => (await deliverEvent(event(url), egressOf(change), 0)).answer
  expect(await said('https://127.0.0.1/')).toContain('private address')
  expect(await said('https://169.254.169.254/')).toContain('private address')
  expect(await said('http://hooks.example/')).toContain('https')
  expect(reached).toEqual([])
  expect(await said('http://127.0.0.1/', { PIPELINE_PRIVATE: true })).toBe('200')
})

it.each([
  ['api.example.com', 'example.com'],
  ['example.com', 'example.com'],
  ['api.example.co.uk', 'example.co.uk'],
  ['a.b.example.com.au', 'example.com.au'],
  ['weir.me.workers.dev', 'me.workers.dev'],
  ['127.0.0.1', null],
  ['[::1]', null],
  ['localhost', null],
  ['gateway.local', null],
])('%s belongs to %s', (host, domain) => {
  expect(registeredDomain(host)).toBe(domain)
})
