// A pipeline over the built Workers while workerd is killed: every row arrives once, in order, and is charged once.
// `node test/pipelines/kills.node.ts` is the long run. Also a pipeline of an account that runs out of credits.

import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { it } from 'vitest'
import { formatCredits } from '../../src/core/amount.ts'
import type { Block, UserFill } from '../../src/protocol/feed/block.ts'
import { EXAMPLE_FILL } from '../../src/relay/channels/fills.ts'
import { RunningFeeder } from '../kit/feeder.ts'
import { startServer } from '../kit/http-server.ts'
import { lastingPort } from '../kit/program.ts'
import { killsRun } from '../pipelines/kills/run.ts'
import { buildPlant, Plant } from '../pipelines/plant/plant.node.ts'

// PIPE-1, PIPE-2, PIPE-4, PIPE-25
// Both mostly wait, so they run in parallel.
it.concurrent('a pipeline delivers every row once and in order through kills', { timeout: 300_000 }, async ({
  expect,
}) => {
  const found = await killsRun({ kills: 1, seed: 2, say: () => undefined })
  expect(found.rows).toBeGreaterThan(100)
})

// PIPE-25, PIPE-27
it.concurrent('a pipeline is charged for its rows, stops without credits and resumes after a top-up', {
  timeout: 120_000,
}, async ({ expect }) => {
  const FIRST = 1_000
  const begunMs = Date.now() - 60_000
  const blockOf = (height: number): Block => {
    const time = begunMs + (height - FIRST) * 70
    const fills: UserFill[] = [[EXAMPLE_FILL[0], { ...EXAMPLE_FILL[1], tid: height, time }]]
    return { height, time, fills, ledger: [], funding: [], books: [] }
  }
  const tids: number[] = []
  const receiver = await startServer(async (request, response) => {
    tids.push(...(JSON.parse(await text(request)) as { rows: { tid: number }[] }).rows.map(({ tid }) => tid))
    response.end()
  })
  await buildPlant()
  const plant = new Plant([], lastingPort() + 1)
  let feeder: RunningFeeder | null = null
  try {
    await plant.start()
    const { key, account } = await plant.owner('0.01')
    const ask = async (path: string, method = 'GET', body?: object): Promise<Record<string, never>> => {
      const answer = await plant.call(method, `/platform/${path}`, key, body)
      if (answer.ok) return ((await answer.json()) as { data: Record<string, never> }).data
      // A trial's four a second.
      expect(answer.status).toBe(429)
      await sleep(250)
      return ask(path, method, body)
    }
    feeder = new RunningFeeder(plant.ws, FIRST, blockOf)
    feeder.advance(FIRST + 60)
    const url = `${receiver.url}/`
    const destination = { type: 'webhook', url, secret: `whsec_${btoa('0123456789abcdef0123456789abcdef')}` }
    const order = {
      name: 'n',
      topic: 'fills',
      destination_config: destination,
      execution_start_from: String(FIRST + 1),
    }
    const { id } = await ask('pipeline-api/', 'POST', order)
    const status = () => ask(`pipeline-api/${id}/status/`)
    await expect.poll(() => tids.length, { timeout: 30_000 }).toBe(60)
    feeder.advance(FIRST + 120)
    await expect.poll(async () => (await status()).phase, { timeout: 30_000 }).toBe('unpaid')
    expect(await status()).toMatchObject({
      status: 'running',
      row_credits: '0.0001',
      last_error: { message: expect.stringMatching(/^Unpaid: .*top-up/) },
    })
    // What is left pays for 40 rows, and the batch is cut to them.
    expect(tids).toHaveLength(100)
    feeder.advance(FIRST + 180)
    await expect.poll(() => feeder!.acked, { timeout: 30_000 }).toBe(FIRST + 180)
    expect([tids.length, (await status()).phase]).toEqual([100, 'unpaid'])
    await plant.ask('POST', `/accounts/${account}/grants`, { idempotency_key: 'more', credits: '1' })
    await ask(`pipeline-api/${id}/`, 'PUT', { status: 'running' })
    await expect.poll(() => tids.length, { timeout: 30_000 }).toBe(180)
    expect(tids).toEqual(Array.from({ length: 180 }, (_, at) => FIRST + 1 + at))
    await ask(`pipeline-api/${id}/`, 'PUT', { status: 'paused' })
    const credits = formatCredits(180 * 100)
    await expect
      .poll(() => ask('usage/'))
      .toMatchObject({
        totals: { credits, calls: 0, stream_minutes: 0, pipeline_rows: 180 },
        by_key: [{ label: 'plant', credits, pipeline_rows: 180 }],
        by_type: [{ product: 'pipeline', type: 'fills', credits, pipeline_rows: 180 }],
      })
    expect(await plant.ask('GET', `/accounts/${account}`)).toMatchObject({ written_off: '0' })
  } finally {
    feeder?.end()
    await plant.end()
    receiver.close()
    plant.remove()
  }
})
