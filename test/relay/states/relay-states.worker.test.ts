// States at a relay, against the real log and a gateway that says how often it was asked.

import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { deflate } from '../../../src/relay/post.client.ts'
import { FakeFeeder } from '../../block-log/fake-feeder.worker.ts'
import { Client, type Frame, meter } from '../stream-client.worker.ts'

const RELAY = `${env.CHAIN}/test/states`
const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const log = () => env.BLOCK_LOG.getByName(env.CHAIN)

const readsOf = (frames: readonly Frame[], user: string) =>
  frames.filter(({ channel, data }) => channel === 'clearinghouseState' && data.user === user)
const next = async (client: Client, user: string): Promise<number> =>
  (await client.next((frame) => readsOf([frame], user).length > 0)).data.clearinghouseState.reads

// WS-140
it('one reading after an event serves both sockets, and none goes on when both have left', async () => {
  await meter(RELAY).grantCredits('g', 1_000_000_000)
  await log().reset()
  const feeder = await FakeFeeder.connect()
  feeder.hello(99, 99)
  await feeder.next('welcome')
  feeder.snapshot(99, [])
  feeder.block(100, [])
  await feeder.acked(100)
  const body = { type: 'clearinghouseState', user: A, dex: '' }
  const clients = [await Client.connect(RELAY, RELAY), await Client.connect(RELAY, RELAY)]
  const [one, two] = clients as [Client, Client]
  await one.subscribe(body)
  expect(await next(one, A)).toBe(1)
  await two.subscribe(body)
  const second = await next(two, A)
  expect(await next(one, A)).toBe(second)
  await vi.waitFor(async () => expect((await log().status()).readers.some(({ name }) => name === RELAY)).toBe(true))
  feeder.block(101, [], { fills: [[A, EXAMPLE_FILL[1]]] })
  expect([await next(one, A), await next(two, A)]).toEqual([second + 1, second + 1])
  for (const client of clients) {
    client.send({ method: 'unsubscribe', subscription: body })
    await client.next(({ channel, data }) => channel === 'subscriptionResponse' && data.method === 'unsubscribe')
  }
  // Frames that were on their way are those of the last readings.
  const last = Math.max(
    second + 1,
    ...clients.flatMap(({ frames }) => readsOf(frames, A)).map((frame) => frame.data.clearinghouseState.reads),
  )
  await two.subscribe({ ...body, user: B })
  await next(two, B)
  feeder.block(102, [], {
    fills: [
      [A, EXAMPLE_FILL[1]],
      [B, EXAMPLE_FILL[1]],
    ],
  })
  await next(two, B)
  one.frames.length = 0
  await one.subscribe(body)
  expect(await next(one, A)).toBe(last + 1)
  for (const client of clients) client.close(1000, '')
  feeder.close()
})

// WS-144
it('packs text as the platform unpacks it', async () => {
  const text = '{"BTC":{"markPx":"81307.0","midPx":null}}'.repeat(1_000)
  const bytes = Uint8Array.from(atob(await deflate(text)), (char) => char.charCodeAt(0))
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  expect(await new Response(unpacked).text()).toBe(text)
})
