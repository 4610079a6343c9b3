// What a relay tells its clients when they say nothing, say what is no text, or when blocks are lost.

import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, vi } from 'vitest'
import { FakeFeeder } from '../feed/fake-feeder.worker.ts'
import { Client, meter } from './stream-client.worker.ts'

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
