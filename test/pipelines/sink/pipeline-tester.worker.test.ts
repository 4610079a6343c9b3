// A test of a pipeline: which rows it is of, and what becomes of one whose destination takes its time.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TEST_PRICE } from '../../../src/metering/tariff.ts'
import type { DeliveryResult } from '../../../src/pipelines/destinations/batch.ts'
import type { Pipeline } from '../../../src/pipelines/pipeline.ts'
import type { AssembledBatch, Assembler } from '../../../src/pipelines/sink/batch-assembler.ts'
import type { Delivery } from '../../../src/pipelines/sink/delivery.ts'
import type { PipelineReader } from '../../../src/pipelines/sink/pipeline-readers.client.ts'
import { newestRows, PipelineTester } from '../../../src/pipelines/sink/pipeline-tester.client.ts'
import type { SqlLink } from '../../../src/pipelines/sink/sql-link.client.ts'
import type { SqlWait } from '../../../src/pipelines/sql/sql-api.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

// PIPE-14, PIPE-26
it('what arrives after its test was given up is owed, and told', async () => {
  const told: (number | string)[] = []
  const delivery = { refusal: async () => null, chargeRows: (rows: number) => void told.push(rows) }
  const { promise, resolve } = Promise.withResolvers<DeliveryResult>()
  const row = { _kind: 'row', _key: '5:a', _height: 5, _time: 350 }
  const taken = { from: 5, to: 5, rows: [row], texts: [JSON.stringify(row)] }
  const reading = { head: async () => ({ height: 5, time: 350 }), assembler: () => ({ take: async () => taken }) }
  const kept: string[] = []
  const slots: SqlWait[] = []
  const sql = {
    acquireSlot: async () => {
      kept.push('taken')
      return slots.shift() ?? null
    },
    releaseSlot: async () => void kept.push('freed'),
  }
  const trying = new PipelineTester({
    sender: { send: () => promise, sql: sql as unknown as SqlLink },
    rowMicro: TEST_PRICE / 4,
    delivery: () => delivery as unknown as Delivery,
    wake: async () => void told.push('woken'),
  })
  const answer = trying.run({ id: 'pipe_a' } as Pipeline, reading as unknown as PipelineReader)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([(await answer).ok, told, kept]).toEqual([false, [], ['taken']])
  // The test paid for four of them.
  resolve({ ok: true, bytes: 1, billedRows: 5 })
  await vi.advanceTimersByTimeAsync(0)
  expect([told, kept]).toEqual([
    [1, 'woken'],
    ['taken', 'freed'],
  ])
  // Another one of the account is under way.
  slots.push({ waitMs: 9, words: 'wait' })
  expect(await trying.run({ id: 'pipe_a' } as Pipeline, reading as unknown as PipelineReader)).toMatchObject({
    ok: false,
    rows: 0,
    words: 'wait',
    waitMs: 9,
  })
})

// PIPE-14
it('is of the newest rows, from as far back as it takes', async () => {
  const opened: number[] = []
  const ends: number[] = []
  const open = (rowsAt: number) => (height: number) => {
    opened.push(height)
    const take: Assembler['take'] = async (end) => {
      const { height: to } = end as { height: number }
      ends.push(to)
      const heights = Array.from({ length: to - height + 1 }, (_, at) => height + at)
      const rows = heights.map((each) => ({ _kind: 'row', _key: `${each}`, _height: each, _time: 0 }) as const)
      return height <= rowsAt
        ? ({ from: height, to, rows, texts: heights.map(String) } as unknown as AssembledBatch)
        : null
    }
    return { take }
  }
  const parcel = await newestRows(30_000, open(28_500), 0)
  expect([opened.splice(0), ends.splice(0)]).toEqual([
    [29_901, 28_001],
    [30_000, 29_900],
  ])
  expect([parcel!.rows.length, parcel!.texts.at(-1)]).toEqual([100, '29900'])
  expect(await newestRows(30_000, open(-1), 0)).toBeNull()
  expect([opened.splice(0).at(-1), ends.at(-1)]).toEqual([10_001, 28_000])
  expect(await newestRows(50, open(-1), 0)).toBeNull()
  expect(opened).toEqual([0])
})
