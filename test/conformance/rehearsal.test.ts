// The short form of `npm run rehearse`: the built Workers as eight gateways in four places, with the platform's limits,
// latencies, stale KV, frozen clock and output gate, and all objects reset while clients follow a stream.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { resetRun } from '../rehearsal/reset-run.ts'
import { Rehearsal } from '../rehearsal/topology.ts'

const CALL = { type: 'exchangeStatus' }

describe('eight gateways in four places', () => {
  let world: World
  let upstream: HttpServer
  beforeAll(async () => {
    upstream = await startServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"time":1,"specialStatuses":null}')
    })
    world = await startWorld({ node: upstream.url, rehearsal: new Rehearsal() })
  })
  // Rejects if a limit of the platform was exceeded.
  afterAll(async () => {
    await world?.stop()
    upstream?.close()
  })
  const statuses = async (key: string, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => world.info(key, CALL)))
    return Promise.all(answers.map(async (answer) => (await answer.arrayBuffer()) && answer.status))
  }

  it('accept a new key at once, and serve exactly what its account has', async () => {
    const key = await world.newKey('40')
    const served: number[] = []
    // Gateways return what they hold but do not spend.
    await expect
      .poll(
        async () => {
          served.push(...(await statuses(key, 16)).filter((status) => status === 200))
          return served.length
        },
        { timeout: 60_000 },
      )
      .toBe(40)
    expect(new Set(await statuses(key, 16))).toEqual(new Set([402]))
  })

  it('all reject a revoked key within 30 seconds, wherever KV still has it', async () => {
    const key = await world.newKey('1000')
    expect(new Set(await statuses(key, 16))).toEqual(new Set([200]))
    await world.admin('DELETE', `/keys/${key.slice(0, 12)}`)
    const revokedMs = performance.now()
    await expect.poll(async () => new Set(await statuses(key, 16)), { timeout: 60_000 }).toEqual(new Set([401]))
    expect(performance.now() - revokedMs).toBeLessThan(35_000)
  })

  it('lose no block of a client while all objects are reset at once, and the ledgers add up', async () => {
    const { objects, recoveredMs, failures } = await resetRun(world, {
      clients: 40,
      resets: 1,
      blockEveryMs: 250,
      say: () => undefined,
    })
    // The log, four hubs, relays, meters and the archive.
    expect(objects).toBeGreaterThan(7)
    expect(recoveredMs).toHaveLength(1)
    // Each object also works when it is called by its ID, which does not tell its name.
    expect(failures).toEqual([])
  })
})
