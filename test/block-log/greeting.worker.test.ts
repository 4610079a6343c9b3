// The first frame that a feeder must send, how much it may send at once, and how its connection is closed.

import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeFeeder } from './fake-feeder.worker.ts'

let feeder: FakeFeeder
beforeEach(async () => {
  feeder = await FakeFeeder.connect()
})
afterEach(() => feeder.close())

const block = { type: 'block', height: 1, time: 1, fills: [], ledger: [], funding: [], books: [] }

// FEED-4
it("must be a hello for the gateway's chain", async () => {
  feeder.send(block)
  expect((await feeder.next('error')).field).toBe('type')
  feeder.send({ type: 'hello', protocol: 1, chain: 'another', feeder: 'test', first: null, head: null })
  expect((await feeder.next('error')).field).toBe('chain')
  feeder.send(block)
  expect((await feeder.next('error')).field).toBe('type')
  feeder.hello(null, null)
  await feeder.next('welcome')
})

// FEED-2
it('is bounded in length and depth', async () => {
  feeder.send('x'.repeat(1024 * 1024 + 1))
  expect((await feeder.next('error')).message).toMatch(/512 KiB/)
  feeder.send(`${'['.repeat(65)}${']'.repeat(65)}`)
  expect((await feeder.next('error')).message).toMatch(/deeper than 64/)
})

// FEED-21
it('is required again after a reset, which disconnects every feeder', async () => {
  feeder.hello(null, null)
  await feeder.next('welcome')
  await env.BLOCK_LOG.getByName(env.CHAIN).reset()
  expect(await feeder.closed).toBe(1012)
})
