// `/status` as anybody reads it: what the built gateway answers has the fields that its published schema and the page for
// operators have, and tells no address.

import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { fieldsOf } from '../../scripts/field-table.ts'
import { StatusShape } from '../../src/protocol/feed/status-shape.ts'
import { NO_TROUBLE } from '../kit/counters.ts'
import { Feeder } from '../kit/feeder.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'

let world: World
let upstream: HttpServer
beforeAll(async () => {
  upstream = await startServer((_, response) => response.writeHead(500).end())
  const url = `${upstream.url.replace('//', '//user:hidden@')}/info`
  const sources = [{ name: 'node', url, budget: 1_200 }]
  const chains = [{ name: 'evm', urls: [`${upstream.url}/hidden`] }]
  world = await startWorld({ vars: { UPSTREAMS: JSON.stringify(sources), RPC_CHAINS: JSON.stringify(chains) } })
})
afterAll(async () => {
  await world?.stop()
  upstream?.close()
})

/** Paths of all fields, as fieldsOf has them; `routes` has a field for each info type. */
function pathsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(one, `${path}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => {
    if (path === 'routes') return pathsIn(one, 'routes.*')
    const own = path === '' ? name : `${path}.${name}`
    return [own, ...pathsIn(one, own)]
  })
}

const PULSE = {
  type: 'pulse',
  now: 1,
  head: 7,
  time: 490,
  state: 'sending',
  ...NO_TROUBLE,
}

/** Rows that come by the minute, or where feeders disagree: `StatusShape` itself is held against them in worker tests. */
const isSeldom = (path: string) => /^(regions|wrongBooks)\[\]|^archive\.(checkpoint|failure|files)\./.test(path)

it('has every field that its schema has, and no other, and no address', async () => {
  const feeder = await Feeder.connect(world.ws)
  await feeder.hello(7, 7)
  feeder.snapshot(7, 490, [])
  feeder.socket.send(PULSE)
  await feeder.acked(7)
  expect((await world.admin('POST', '/feed/reset')).status).toBe(200)
  const again = await Feeder.connect(world.ws)
  await again.hello(7, 7)
  again.socket.send(PULSE)
  const key = await world.newKey('100')
  await world.info(key, { type: 'userRole', user: `0x${'12'.repeat(20)}` })
  const asked = await world.call('POST', '/v1/evm', key, { jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
  expect(asked.status).toBe(502)
  const status = async () => (await fetch(`${world.url}/status`)).text()
  const read = async () => JSON.parse(await status()) as { feeders: { counters: unknown }[]; readers: unknown[] }
  await vi.waitFor(
    async () => {
      const { feeders, readers } = await read()
      expect([feeders[0]?.counters, readers.length > 0]).toMatchObject([{ misfits: 0 }, true])
    },
    { timeout: 30_000, interval: 250 },
  )
  const text = await status()
  StatusShape.parse(JSON.parse(text))
  expect([...new Set(pathsIn(JSON.parse(text)))].filter((path) => !isSeldom(path)).sort()).toEqual(
    fieldsOf(StatusShape)
      .map(({ path }) => path)
      .filter((path) => !isSeldom(path))
      .sort(),
  )
  expect(text).not.toMatch(/:\/\/|hidden|127\.0\.0\.1/)
})
