// A hub's link to the log, at the moments when the hub's position and the frames on the link could diverge.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { shardOf } from '../../src/core/coin.ts'
import { BlockLog, BookHub } from '../../src/live.ts'
import { FakeFeeder, levelsOf } from '../block-log/fake-feeder.worker.ts'

const WAIT = { timeout: 20_000, interval: 20 }
const HOUR = 3_600_000
const shards = Number(env.BOOK_HUBS)
const index = shardOf('BTC', shards)
const hub = () => env.BOOK_HUB.getByName(`${env.CHAIN}/${index}`)
const log = () => env.BLOCK_LOG.getByName(env.CHAIN)
/** A coin in the same hub as BTC. */
const QUIET = Array.from({ length: 99 }, (_, i) => `Q${i}`).find((coin) => shardOf(coin, shards) === index)!

let feeder: FakeFeeder
let base = 0
beforeEach(async () => {
  await log().reset()
  base += 1000
  feeder = await FakeFeeder.connect()
  feeder.hello(base, base)
  await feeder.next('welcome')
  feeder.snapshot(base, [
    { coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) },
    { coin: QUIET, levels: levelsOf(['7', '1.0', 1]) },
  ])
  await feeder.acked(base)
})
afterEach(() => {
  vi.restoreAllMocks()
  feeder.close()
})

async function seqAt(coin: string, height: number): Promise<number> {
  return vi.waitFor(async () => {
    const answer = await hub().snapshot(coin)
    if (!answer.ok || answer.snapshot.height < height) throw new Error(JSON.stringify(answer))
    return answer.snapshot.seq
  }, WAIT)
}

/** A log frame that the log never sent. */
const tells = (frame: object) =>
  runInDurableObject(hub(), async (instance, state) => {
    const socket = state.getWebSockets().find(({ readyState }) => readyState === WebSocket.OPEN)!
    await instance.webSocketMessage(socket, JSON.stringify({ v: 1, ...frame }))
  })
const jump = (height: number, epoch: string | null) =>
  tells({ t: 'block', epoch, height, time: 1, books: epoch && [], px: {} })

it('frames on the old link are applied until the new one exists, without another snapshot', async () => {
  const { attach } = BlockLog.prototype
  await seqAt('BTC', base)
  const { epoch } = await log().status()
  const frames = vi.spyOn(BookHub.prototype, 'webSocketMessage')
  let open = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const asked = vi.spyOn(BlockLog.prototype, 'attach').mockImplementation(async function (this: BlockLog, request) {
    await gate
    return attach.call(this, request)
  })
  await jump(base + 5, epoch)
  await vi.waitFor(() => expect(asked).toHaveBeenCalled(), WAIT)
  feeder.block(base + 1, null)
  feeder.snapshot(base + 1, [{ coin: 'BTC', levels: levelsOf(['90', '1.0', 1]) }])
  const seeds = () => frames.mock.calls.filter(([, text]) => String(text).includes('"t":"seed"'))
  await vi.waitFor(() => expect(seeds()).toHaveLength(shards), WAIT)
  open()
  feeder.block(base + 2, [])
  expect(await seqAt('BTC', base + 2)).toBe(base + 2)
  expect(feeder.heard).not.toContain('reseed')
})

it('a restarted hub knows all its coins before it applies a block', async () => {
  await evictDurableObject(hub())
  feeder.block(base + 1, [{ coin: 'BTC', levels: levelsOf(['101', '1.0', 1]) }])
  await feeder.acked(base + 1)
  expect(await hub().snapshot(QUIET)).not.toMatchObject({ reason: 'unknown_coin' })
  await vi.waitFor(async () => {
    feeder.block(((await log().status()).height ?? 0) + 1, [])
    expect(await hub().snapshot(QUIET)).toMatchObject({ ok: true })
  }, WAIT)
})

it('a hub that lost its books without notice gets them again', async () => {
  await seqAt('BTC', base)
  await tells({ t: 'gap', from: base, to: base })
  expect(await hub().snapshot('BTC')).toMatchObject({ reason: 'not_ready' })
  await vi.waitFor(async () => {
    feeder.block(((await log().status()).height ?? 0) + 1, [])
    expect(await hub().snapshot('BTC')).toMatchObject({ ok: true })
  }, WAIT)
})

it('a restarted hub requests no book that missed blocks will bring', async () => {
  const fresh = `${QUIET}x`.padEnd(4, 'x')
  const coin = Array.from({ length: 99 }, (_, i) => `${fresh}${i}`).find((one) => shardOf(one, shards) === index)!
  await seqAt('BTC', base)
  feeder.block(base + 1, [{ coin: 'BTC', levels: levelsOf(['101', '1.0', 1]) }])
  await seqAt('BTC', base + 1)
  await storedOnce()
  const at = ((await log().status()).height ?? 0) + 1
  feeder.block(at, [{ coin, levels: levelsOf(['5', '1.0', 1]), new: true }])
  await feeder.acked(at)
  await evictDurableObject(hub())
  expect(await seqAt(coin, at)).toBe(at)
  expect(feeder.heard).not.toContain('reseed')
})

/** Sends blocks until both coins of the hub are stored. */
const storedOnce = () =>
  vi.waitFor(async () => {
    feeder.block(((await log().status()).height ?? 0) + 1, [])
    const keys = await runInDurableObject(hub(), (_, { storage }) => [...storage.kv.list({ prefix: 'checkpoint/' })])
    expect(keys).toHaveLength(2)
  }, WAIT)

it('a checkpoint lost by storage does not count as valid', async () => {
  await seqAt('BTC', base)
  await storedOnce()
  await runInDurableObject(hub(), (_, { storage }) => {
    const put = storage.put.bind(storage) as (...args: unknown[]) => Promise<void>
    storage.put = ((...args: unknown[]) =>
      String(args[0]).endsWith('BTC') ? Promise.reject(new Error('disk is full')) : put(...args)) as typeof storage.put
  })
  const start = Date.now()
  let at = (await log().status()).height ?? 0
  feeder.block(++at, [{ coin: 'BTC', levels: levelsOf(['102', '1.0', 1]) }])
  await feeder.acked(at)
  for (let i = 1; i <= 4; i++) {
    // Each block arrives when some coin is due.
    vi.spyOn(Date, 'now').mockImplementation(() => start + i * 2000)
    feeder.block(++at, [{ coin: QUIET, levels: levelsOf(['7', `${i}.0`, 1]) }])
    await feeder.acked(at)
  }
  await evictDurableObject(hub())
  await seqAt(QUIET, at)
  const answer = await hub().snapshot('BTC')
  expect(answer.ok && answer.snapshot.levels).toContain('"102"')
})

it('a link without an attach answer is closed: the answer may contain repairs', async () => {
  await seqAt('BTC', base)
  const { attach } = BlockLog.prototype
  const asked = vi.spyOn(BlockLog.prototype, 'attach').mockImplementation(async function (this: BlockLog, request) {
    const answer = await attach.call(this, request)
    await scheduler.wait(HOUR)
    return answer
  })
  await jump(base + 5, null)
  await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(1), WAIT)
  asked.mockRestore()
  feeder.block(base + 1, [])
  await seqAt('BTC', base + 1)
  expect(feeder.heard).not.toContain('reseed')
})
