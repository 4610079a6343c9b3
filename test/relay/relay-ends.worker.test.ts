// What a relay tells its clients when they say nothing, say what is no text, or when blocks are lost.

import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, vi } from 'vitest'
import { LIGHT } from '../../src/relay/sockets/unread.ts'
import { FakeFeeder } from '../block-log/fake-feeder.worker.ts'
import { Client, knock, meter } from './stream-client.worker.ts'

let relay = ''
let count = 0
beforeEach(async () => {
  relay = `${env.CHAIN}/ends/${++count}`
  await meter(relay).grantCredits('g', 1_000_000_000)
})

// WS-11
it('closes a socket that was silent for a minute with 4408, and none before', async () => {
  const client = await Client.connect(relay, relay)
  const began = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    for (const seconds of [30, 59]) {
      vi.setSystemTime(began + seconds * 1000)
      await runDurableObjectAlarm(env.RELAY.getByName(relay))
    }
    expect(client.closed).toBeNull()
    vi.setSystemTime(Date.now() + 2_000)
    await runDurableObjectAlarm(env.RELAY.getByName(relay))
    expect(await client.closing()).toEqual({ code: 4408, reason: 'idle: send pings' })
  } finally {
    vi.useRealTimers()
  }
})

// WS-6
it('refuses a binary frame, and lives on', async () => {
  const client = await Client.connect(relay, relay)
  client.sendBytes(new TextEncoder().encode('{"method":"ping"}'))
  expect(await client.refused()).toMatchObject({ data: expect.stringContaining('send text frames of JSON') })
  client.send({ method: 'ping' })
  expect(await client.next(({ channel }) => channel === 'pong')).toEqual({ channel: 'pong' })
})

// WS-6
it.each([
  ['text', 'x'.repeat(65_537)],
  ['binary', new Uint8Array(65_537)],
])('closes with 1009 at a %s frame over 64 KiB', async (_, frame) => {
  const client = await Client.connect(relay, relay)
  if (typeof frame === 'string') client.send(frame)
  else client.sendBytes(frame)
  expect((await client.refused()).data).toMatch(/^frame: /)
  expect(await client.closing()).toMatchObject({ code: 1009 })
})

// WS-10, WS-60
it('answers a ping with a nonce by a pong with a fresh one, and a plain one as ever', async () => {
  const client = await Client.connect(relay, relay)
  const pong = () => client.next(({ channel }) => channel === 'pong')
  client.send({ method: 'ping', nonce: '' })
  const first = await pong()
  client.send({ method: 'ping', nonce: first.nonce })
  const second = await pong()
  client.send({ method: 'ping' })
  expect([first.nonce.length, second.nonce === first.nonce, await pong()]).toEqual([36, false, { channel: 'pong' }])
})

/** Has the relay send a socket more than it may have unread, by answers to frames that it sends. */
async function flood(client: Client): Promise<void> {
  const frame = JSON.stringify({ method: 'unsubscribe', subscription: { type: 'x', more: 'y'.repeat(4_000) } })
  for (let sent = 0; sent < LIGHT.bytes + 1_000_000 && !client.closed; sent += 4096) client.send(frame)
  await client.closing()
}

// WS-12, WS-62
it('sends on who has more unread than it may, and nobody else', async () => {
  const client = await Client.connect(relay, relay, { plan: 'enterprise' })
  await flood(client)
  expect(client.closed).toMatchObject({ code: 1013 })
  expect(await (await knock(relay, relay)).json()).toEqual({ why: 'heavy', left: 0 })
  await meter(`${relay} b`).grantCredits('g', 1_000_000_000)
  expect((await knock(relay, `${relay} b`)).status).toBe(101)
})

// WS-35
it('tells subscribers of events that blocks were lost', async () => {
  const log = env.BLOCK_LOG.getByName(env.CHAIN)
  await log.reset()
  const feeder = await FakeFeeder.connect()
  feeder.hello(1, 1)
  await feeder.next('welcome')
  feeder.block(1, null)
  await feeder.acked(1)
  const client = await Client.connect(relay, relay)
  await client.subscribe({ type: 'allFills' })
  feeder.send({ type: 'gone', first: 5 })
  expect(await client.refused()).toMatchObject({ code: 'gap', data: expect.stringContaining('Blocks 2 to 4') })
  feeder.close()
})
