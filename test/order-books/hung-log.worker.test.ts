// A log that takes no call to its end: hubs give up in time, answer their callers, and come back with it.

import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { BlockLog } from '../../src/live.ts'
import { LINK_HEADER } from '../../src/protocol/feed/log-api.ts'

const HOUR = 3_600_000
const hub = () => env.BOOK_HUB.getByName('hung/0')
afterEach(() => vi.restoreAllMocks())

it('a hub gives up a log that does not answer, and attaches when it does', async () => {
  const attach = vi.spyOn(BlockLog.prototype, 'attach').mockImplementation(async () => {
    await scheduler.wait(HOUR)
    throw new Error('an hour has passed')
  })
  const failed = await hub()
    .wake()
    .catch((error: Error) => error.message)
  expect(failed).toBe('no answer within 4000 ms')
  // A log that is looked at for the first time wakes the other hubs too.
  expect(attach.mock.calls.filter(([{ name }]) => name === 'hung/0')).toHaveLength(1)
  attach.mockRestore()
  await hub().wake()
  const log = await env.BLOCK_LOG.getByName(env.CHAIN).status()
  expect(log.readers.map(({ name }) => name)).toContain('hung/0')
})

it('a dial of an attempt that was given up is not taken: nobody knows where its frames begin', async () => {
  await hub().wake()
  const headers = { upgrade: 'websocket', [LINK_HEADER]: JSON.stringify({ v: 1, from: 'log', index: 0 }) }
  expect((await hub().fetch('http://reader/link', { headers })).status).toBe(409)
})
