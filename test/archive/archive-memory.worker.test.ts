// The Archiver and the Compactor share the memory of their isolate with those of other chains.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { archiveMemory, MEMORY_RETRY_MS, TASK_BYTES } from '../../src/archive/archive-memory.ts'

it.each([
  ['Archiver', () => env.ARCHIVER.getByName('without memory')],
  ['Compactor', () => env.COMPACTOR.getByName('without memory')],
])('the %s waits while there is too little of it', async (_, stub) => {
  const { round, merge } = TASK_BYTES
  // Objects that were reset when another test of this isolate ended never free their part: an hour later it has expired.
  const reserveAll = () => archiveMemory.reserve(round + merge, Date.now() + 3_600_000, 60_000)
  const free = await vi.waitUntil(reserveAll, { timeout: 40_000, interval: 50 })
  const nextMs = () =>
    runInDurableObject(stub(), async (object, { storage }) => {
      await (object as unknown as { alarm(): Promise<void> }).alarm()
      const alarmMs = await storage.getAlarm()
      return alarmMs === null ? null : alarmMs - Date.now()
    })
  const waitMs = await nextMs()
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs).toBeLessThanOrEqual(MEMORY_RETRY_MS)
  free()
  expect(await nextMs()).not.toBe(waitMs)
  const freeAgain = await vi.waitUntil(reserveAll, { timeout: 40_000, interval: 50 })
  freeAgain()
})
