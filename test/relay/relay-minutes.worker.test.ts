// Charges and limits of an account over several relays and their deaths, against the real meter.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { keyHashOf } from '../../src/core/ids.ts'
import { Client, knock, meter } from './stream-client.worker.ts'

const CREDIT = 1_000_000
const FILLS = { type: 'allFills' }

let account = ''
let count = 0
beforeEach(async () => {
  account = `streams of ${++count}`
  await meter(account).grantCredits('g', 1000 * CREDIT)
})

const relayOf = (index: number) => `${env.CHAIN}/minutes-${count}/${index}`
const stubOf = (index: number) => env.RELAY.getByName(relayOf(index))
const connect = (index: number, more = {}) => Client.connect(relayOf(index), account, more)
const spent = async () => (await meter(account).balance()).spent / CREDIT
const kill = (index: number) =>
  runInDurableObject(stubOf(index), (_, state) => state.abort('test')).catch(() => undefined)
const isToldOfEnd = (sockets: number) =>
  vi.waitFor(
    () =>
      runInDurableObject(env.CREDIT_METER.getByName(account), (_, { storage }) => {
        const sum = storage.sql.exec<{ sum: number }>('SELECT coalesce(sum(sockets), 0) AS sum FROM relays').one().sum
        expect(sum).toBe(sockets)
      }),
    { timeout: 10_000, interval: 10 },
  )

describe('the rest of a minute', () => {
  // WS-38
  it('serves a reconnect at another relay, once', async () => {
    const first = await connect(0)
    await first.subscribe(FILLS)
    first.close(1000, '')
    await isToldOfEnd(0)
    const second = await connect(1)
    await second.subscribe(FILLS)
    expect(await spent()).toBe(1)
    const third = await connect(2)
    await third.subscribe(FILLS)
    expect(await spent()).toBe(2)
  })

  it('serves a reconnect after the relay was killed, even at once and without credits', async () => {
    account = `${account}, poor`
    await meter(account).grantCredits('g', CREDIT)
    const first = await connect(0)
    await first.subscribe(FILLS)
    await kill(0)
    const second = await connect(0)
    await second.subscribe(FILLS)
    expect(await spent()).toBe(1)
    expect(await (await knock(relayOf(0), account)).json()).toMatchObject({ why: 'exhausted', left: 0 })
  })

  it('serves a reconnect elsewhere after the killed relay restarted', async () => {
    const first = await connect(0)
    await first.subscribe(FILLS)
    await vi.waitFor(
      () =>
        runInDurableObject(stubOf(0), (_, { storage }) => {
          expect([...storage.kv.list({ prefix: 'subscription/' })]).toHaveLength(1)
        }),
      { timeout: 10_000, interval: 50 },
    )
    await kill(0)
    await runDurableObjectAlarm(stubOf(0))
    await isToldOfEnd(0)
    const second = await connect(1)
    await second.subscribe(FILLS)
    expect(await spent()).toBe(1)
  })

  it('exists once per paid minute, however many sockets return', async () => {
    const clients = await Promise.all([0, 0, 1, 1].map((index) => connect(index)))
    for (const client of clients.slice(0, 3)) await client.subscribe(FILLS)
    for (const client of clients) client.close(1000, '')
    await isToldOfEnd(0)
    const again = await Promise.all([2, 2, 2, 1, 1].map((index) => connect(index)))
    await Promise.all(again.map((client) => client.subscribe(FILLS)))
    expect(await spent()).toBe(5)
  })
})

describe('limits of a plan', () => {
  // WS-3
  it('hold for the sockets of all relays together, and a closed socket makes room', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, (_, i) => connect(i % 3)))
    for (const index of [0, 3]) {
      expect(await (await knock(relayOf(index), account)).json()).toMatchObject({ why: 'limit' })
    }
    clients[50]!.close(1000, '')
    await isToldOfEnd(99)
    await connect(3)
    expect(await (await knock(relayOf(1), account)).json()).toMatchObject({ why: 'limit' })
    expect((await knock(relayOf(1), account, { plan: 'professional' })).status).toBe(101)
  })
})

describe('a revoked key', () => {
  it('is rejected, and its sockets end within a minute; those of other keys survive', async () => {
    const sockets = await Promise.all([0, 0, 1].map((index) => connect(index)))
    await sockets[0]!.subscribe(FILLS)
    const other = await connect(0, { keyHash: 'another key' })
    await other.subscribe(FILLS)
    await meter(account).revokeKey(keyHashOf(`key of ${account}`))
    expect(await (await knock(relayOf(0), account)).json()).toMatchObject({ why: 'revoked' })
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      vi.setSystemTime(Date.now() + 20_000)
      for (const index of [0, 1]) await runDurableObjectAlarm(stubOf(index))
      for (const socket of sockets) expect(await socket.closing()).toMatchObject({ code: 4401 })
      expect(await sockets[2]!.refused()).toMatchObject({ code: 'unauthorized' })
    } finally {
      vi.useRealTimers()
    }
    other.send({ method: 'ping' })
    await other.next(({ channel }) => channel === 'pong')
    expect(other.closed).toBeNull()
  })
})

describe('changed terms', () => {
  // WS-42
  it('reach open sockets with the next report, even of a hibernated relay', async () => {
    const expired = await connect(0, { keyHash: 'expired key' })
    const replaced = await connect(0, { keyHash: 'replaced key' })
    const stays = await connect(0, { keyHash: 'enterprise key' })
    await evictDurableObject(stubOf(0))
    await meter(account).noteChange(null)
    await runDurableObjectAlarm(stubOf(0))
    expect(await expired.closing()).toMatchObject({ code: 4401, reason: 'key expired' })
    expect(await replaced.closing()).toMatchObject({ code: 4401, reason: 'key replaced' })
    const seen = () => runInDurableObject(stubOf(0), (_, state) => state.getWebSockets()[0]!.deserializeAttachment())
    await vi.waitFor(async () => expect(await seen()).toMatchObject({ identity: { plan: 'enterprise' }, terms: 1 }), {
      timeout: 10_000,
      interval: 10,
    })
    expect(stays.closed).toBeNull()
  })
})
