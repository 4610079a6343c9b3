// Objects that are addressed by id, as Cloudflare's data viewer does.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { objectName } from '../../src/core/object-name.store.ts'

const namespaces = { relay: env.RELAY, hub: env.BOOK_HUB, book: env.ORDER_BOOK }
const UPGRADE = { headers: { upgrade: 'websocket' } }

/** The local platform also tells the name to an object that is addressed by id, so objects without a name stand in. */
it.each([
  ['relay', `${env.CHAIN}/names/0`],
  ['hub', 'names/1'],
  ['book', `${env.CHAIN}/l4/NAMED`],
] as const)('a %s stores its name and uses it where the platform does not tell it', async (kind, name) => {
  const namespace: DurableObjectNamespace = namespaces[kind]
  const stored = await runInDurableObject(namespace.getByName(name), (_, { storage }) => storage.kv.get('name'))
  expect(stored).toBe(name)
  const nameless = namespace.get(namespace.newUniqueId())
  await runInDurableObject(nameless, (_, { storage }) => storage.kv.put('name', name))
  await evictDurableObject(nameless)
  const names = await runInDurableObject(nameless, (_, ctx) => [ctx.id.name, objectName(ctx)])
  expect(names).toEqual([undefined, name])
})

it('a relay whose name is stored accepts sockets', async () => {
  const relay = env.RELAY.get(env.RELAY.newUniqueId())
  await runInDurableObject(relay, (_, { storage }) => storage.kv.put('name', `${env.CHAIN}/names/2`))
  await evictDurableObject(relay)
  // It knows no identity, because the request did not come through the gateway.
  expect((await relay.fetch('http://relay/', UPGRADE)).status).toBe(401)
})

it('an object whose name was never known starts, and serves nobody', async () => {
  const relay = env.RELAY.get(env.RELAY.newUniqueId())
  expect((await relay.fetch('http://relay/', UPGRADE)).status).toBe(404)
  const hub = env.BOOK_HUB.get(env.BOOK_HUB.newUniqueId())
  const failed = await hub.snapshot('BTC').catch((error: Error) => error.message)
  expect(failed).toContain('hub (no name) does not exist')
  const book = env.ORDER_BOOK.get(env.ORDER_BOOK.newUniqueId())
  const why = await book.ready(0).catch((error: Error) => error.message)
  expect(why).toContain('has no name')
  // A failing alarm would be repeated.
  for (const stub of [relay, hub, book]) {
    await runInDurableObject(stub, (_, { storage }) => storage.setAlarm(Date.now() + 60_000))
    expect(await runDurableObjectAlarm(stub)).toBe(true)
  }
})

it('a sink without a name or a pipeline ignores its deletion', async () => {
  const sink = env.SINK.get(env.SINK.newUniqueId())
  await sink.drop()
  expect(await runInDurableObject(sink, (_, { storage }) => storage.getAlarm())).toBeNull()
})
