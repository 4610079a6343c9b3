// Meters of accounts, with spending at any price: through first minutes of streams as a relay does, and through calls
// as an isolate does.

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { keyHashOf } from '../../src/core/ids.ts'
import type { LeaseMeterApi } from '../../src/metering/lease-api.ts'
import type { MeterApi } from '../../src/metering/meter-api.ts'
import type { MinuteResult, StreamMeterApi } from '../../src/metering/streams/stream-api.ts'

export const CREDIT = 1_000_000
export const stubOf = (account: string) => (env as unknown as Cloudflare.Env).CREDIT_METER.getByName(account)
export const meterOf = (account: string) => stubOf(account) as unknown as MeterApi

let spent = 0

export async function spend(meter: StreamMeterApi, key: string, amount: number): Promise<MinuteResult> {
  const keyHash = keyHashOf(key)
  // A distinct body, so that no rest of another minute pays for it.
  const body = `spent ${spent++}`
  const charge = {
    subscription: `r/${body}`,
    ordinal: 0,
    count: 1,
    keyHash,
    type: 'allFills',
    amount,
    body,
    leftMs: 60_000,
  }
  const here = { alive: null, sockets: 0, subscriptions: 0, perMinute: 0, keys: [], connects: [], ends: [] }
  const limits = { connections: 1, subscriptions: 1 }
  const { minutes } = await meter.stream({ v: 1, relay: 'r', life: 1, ...here, limits, charges: [charge] })
  return minutes[0]!
}

/** A lease for this many calls, and the report that ends it. */
export async function spendCalls(meter: LeaseMeterApi, key: string, calls: number, amount: number): Promise<void> {
  const lease = { v: 1, lease: `calls ${spent++}`, keyHash: keyHashOf(key), forecast: 0 }
  await meter.lease({ ...lease, need: amount, waiting: amount, spent: 0, usage: [], close: false })
  const usage = [{ product: 'info', type: 'meta', calls, amount }]
  await meter.lease({ ...lease, need: 0, waiting: 0, spent: amount, usage, close: true })
}

/**
 * Runs the alarm of a meter with its usage an hour late and under one type. The gateway of these tests refuses rows of the
 * type `refused`.
 */
export async function copyLate(account: string, from: string, to: string): Promise<void> {
  await runInDurableObject(stubOf(account), async (_, { storage }) => {
    const late = Date.now() - 3_600_000
    storage.sql.exec('UPDATE account SET uncopied = ?, usage = replace(usage, ?, ?)', late, from, to)
    storage.sql.exec('UPDATE usage SET type = ? WHERE type = ?', to, from)
    await storage.setAlarm(Date.now() + 60_000)
  })
  await evictDurableObject(stubOf(account))
  await runDurableObjectAlarm(stubOf(account))
}
