// Sockets that come with a stream token at a relay: how many, for how long, and what they are refused.

import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { TOKEN_SOCKETS, VISITOR_MINUTES } from '../../src/accounts/stream-token.ts'
import { Client, knock, meter } from './stream-client.worker.ts'

const CREDIT = 1_000_000
const token = { holder: 'visitor', coins: ['BTC'], channels: ['trades', 'l2BookDiff2'], expires: Date.now() + 600_000 }

async function relayOf(name: string): Promise<string> {
  const relay = `${env.CHAIN}/tokens/${name}`
  await meter(relay).grantCredits('g', 1000 * CREDIT)
  return relay
}

// WS-162
it('a visitor has few sockets, however many come at once, and another visitor has as many', async () => {
  const relay = await relayOf('many')
  const answers = await Promise.all(Array.from({ length: 20 }, () => knock(relay, relay, { token })))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 101)).toHaveLength(TOKEN_SOCKETS)
  const refused = answers.find(({ status }) => status === 503)!
  expect(await refused.json()).toMatchObject({ why: 'token' })
  const other = await knock(relay, relay, { token: { ...token, holder: 'other' } })
  expect(other.status).toBe(101)
  for (const { webSocket } of [...answers, other]) {
    webSocket?.accept()
    webSocket?.close()
  }
})

// WS-163
it('ends with 4410 when its token does, also after the relay slept', async () => {
  const relay = await relayOf('over')
  const stub = env.RELAY.getByName(relay)
  const lasting = await Client.connect(relay, relay, { token: { ...token, holder: 'lasting' } })
  const client = await Client.connect(relay, relay, { token: { ...token, expires: Date.now() - 1 } })
  await evictDurableObject(stub, { webSockets: 'hibernate' })
  await runDurableObjectAlarm(stub)
  expect(await client.closing()).toEqual({ code: 4410, reason: 'token expired' })
  expect(client.frames.at(-1)).toMatchObject({ channel: 'error', code: 'unauthorized' })
  expect(lasting.closed).toBeNull()
  lasting.close(1000, '')
})

// WS-161
it('is refused other coins and channels in an error frame, at no cost, and lives on', async () => {
  const relay = await relayOf('others')
  const client = await Client.connect(relay, relay, { token })
  const bodies = [
    { type: 'trades', coin: 'ETH' },
    { type: 'l2BookDiff2' },
    { type: 'userFills', user: `0x${'a'.repeat(40)}` },
    { type: 'l4Book', coin: 'BTC' },
  ]
  for (const subscription of bodies) {
    client.send({ method: 'subscribe', subscription })
    const frame = await client.refused()
    expect(frame).toMatchObject({ code: 'forbidden', data: expect.stringContaining('his stream token is for') })
    expect(frame.data).toContain(JSON.stringify(subscription))
  }
  expect(client.closed).toBeNull()
  expect((await meter(relay).balance()).spent).toBe(0)
  client.close(1000, '')
})

const visitors = { perHour: 60_000 * CREDIT, sockets: 3 }

it('of visitors takes as many sockets as the operator says, and leaves the rest to keys', async () => {
  const relay = await relayOf('crowd')
  const asVisitor = (holder: string) => knock(relay, relay, { token: { ...token, holder, visitors } })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => asVisitor(`visitor ${i}`)))
  expect(answers.filter(({ status }) => status === 101)).toHaveLength(visitors.sockets)
  expect(await answers.find(({ status }) => status === 503)!.json()).toMatchObject({ why: 'busy' })
  const own = await knock(relay, relay, {})
  const ofPage = await knock(relay, relay, { token })
  expect([own.status, ofPage.status]).toEqual([101, 101])
  for (const { webSocket } of [...answers, own, ofPage]) {
    webSocket?.accept()
    webSocket?.close()
  }
})

it('of a visitor begins a bounded number of streams a minute, over all sockets, and lives on', async () => {
  const relay = await relayOf('busy')
  const asVisitor = (holder: string) => Client.connect(relay, relay, { token: { ...token, holder, visitors } })
  const [one, two, other] = await Promise.all([asVisitor('greedy'), asVisitor('greedy'), asVisitor('modest')])
  const subscription = { type: 'trades', coin: 'BTC' }
  const beganMs = Date.now()
  // A stream that is given up and begun again costs its visitor's share, though its minute is paid.
  for (let i = 0; i < 70; i++)
    for (const client of [one, two]) {
      client.send({ method: 'subscribe', subscription })
      client.send({ method: 'unsubscribe', subscription })
    }
  other.send({ method: 'subscribe', subscription })
  await expect.poll(() => [one, two].map(({ frames }) => frames.length), { timeout: 10_000 }).toEqual([140, 140])
  const all = [...one.frames, ...two.frames]
  const begun = all.filter(({ channel, data }) => channel === 'subscriptionResponse' && data.method === 'subscribe')
  const refilled = ((Date.now() - beganMs) / 60_000) * VISITOR_MINUTES.quota
  expect(begun.length).toBeGreaterThanOrEqual(VISITOR_MINUTES.quota)
  expect(begun.length).toBeLessThanOrEqual(VISITOR_MINUTES.quota + refilled)
  expect(all.find(({ code }) => code === 'rate_limited')).toMatchObject({ channel: 'error' })
  await expect.poll(() => other.frames.length).toBeGreaterThan(0)
  expect(other.frames[0]).toMatchObject({ channel: 'subscriptionResponse' })
  for (const client of [one, two, other]) {
    expect(client.closed).toBeNull()
    client.close(1000, '')
  }
})
