// Backfills of a pipeline: estimate, order, progress and cancellation.

import * as z from 'zod'
import { formatCredits, type MicroCredits } from '../../../core/amount.ts'
import { MINUTE_MS } from '../../../core/time.ts'
import { TEST_PRICE } from '../../../metering/tariff.ts'
import type { HeightRange } from '../../../pipelines/backfill.ts'
import { Position } from '../../../pipelines/pipeline.ts'
import type { PipelineRow } from '../../../pipelines/pipeline-row.ts'
import type { SinkStatus } from '../../../pipelines/sink-api.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import type { BackfillPlan } from '../platform-api.ts'
import { PHASES } from './pipeline-status.ts'
import { IsoTime, isoTime, PIPELINE_PARAMS, PIPELINE_PATH } from './pipelines.ts'

const Height = (words: string) => z.int().describe(words)

const Estimate = z
  .object({
    rows: z.int().describe('Expected rows to charge, after transforms'),
    rows_most: z.int().describe('Rows that are very unlikely to be exceeded'),
    exact: z.boolean().describe('Whether all blocks were read; if false, the rows are estimated from samples'),
    credits: CreditsText.describe('Expected price, with minutes'),
    credits_most: CreditsText.describe('Price for `rows_most`'),
    seconds: z.int().describe('Expected duration'),
  })
  .meta({ id: 'BackfillEstimate' })

const Backfill = z
  .object({
    id: z.string().describe('Id of the backfill, a pipeline with an end. Status, logs and metrics accept it'),
    from: Height('First block to deliver'),
    to: Height('Last block to deliver'),
    phase: z.enum(PHASES).describe('Phase, as in the status of a pipeline; `finished`: all rows are delivered'),
    height: z.int().nullable().describe('Last block confirmed by the destination; null: none yet'),
    blocks_left: z.int().nullable().describe('Blocks that are not delivered yet; null: unknown'),
    rows: z.int().nullable().describe('Rows delivered and confirmed; null: unknown'),
    message: z.string().nullable().describe('Why it waits or has failed; null: it does not'),
    created_at: IsoTime.describe('Time of the order, ISO 8601'),
  })
  .meta({ id: 'PipelineBackfill' })

const Delivered = z
  .array(z.object({ from: Height('First block'), to: Height('Last block') }))
  .describe('Blocks that earlier backfills have delivered')

function viewOf(row: PipelineRow, status: SinkStatus | null): z.infer<typeof Backfill> {
  const from = Number(row.fields.execution_start_from)
  const to = Number(row.fields.execution_stop_from)
  return {
    id: row.id,
    from,
    to,
    phase: status?.phase ?? 'unknown',
    height: status?.height ?? null,
    blocks_left: status && (status.phase === 'finished' ? 0 : to - (status.height ?? from - 1)),
    rows: status?.rows ?? null,
    message: status?.pauseReason ?? status?.lastError?.words ?? null,
    created_at: isoTime(row.createdMs),
  }
}

const rangesOf = (ranges: readonly HeightRange[]) => ranges.map(({ from, to }) => ({ from, to }))

const BODY = z
  .strictObject({
    from: Position.default('').describe(
      'First block: a height, an ISO 8601 time, or empty for the first available one',
    ),
    to: Position.default('').describe(
      'Last block, in the same format. Empty: the last one before those that the pipeline has read',
    ),
    dry_run: z.boolean().default(false).describe('Only estimates rows, price and duration; default false'),
    redeliver: z
      .boolean()
      .default(false)
      .describe('Also delivers, and charges again, blocks that were delivered before; default false'),
    idempotency_key: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Name of this order. A repeated order is the same backfill; default: the other fields'),
  })
  .meta({ id: 'BackfillOrder' })

const RANGE_EXAMPLE = { from: 921000000, to: 922234567 }

const backfillPipeline = defineEndpoint({
  id: 'backfillPipeline',
  route: `POST ${PIPELINE_PATH}backfill/`,
  summary: 'Deliver past rows of a pipeline, or estimate what that costs',
  description:
    'Delivers the rows of a range of past blocks with the current settings, next to the pipeline, whose position does not change. With `dry_run`, it only estimates rows, price and duration, which costs 1 credit like a preview. Blocks that the pipeline or an earlier backfill has delivered are left out, unless `redeliver` is true. A pipeline has one backfill at a time; another order is rejected with 409. Later changes of the pipeline do not affect its backfill.',
  auth: 'service',
  // Held before the work, so that an account without credits causes none.
  price: TEST_PRICE,
  priceText: '1 with `dry_run`, otherwise free',
  params: PIPELINE_PARAMS,
  body: {
    schema: BODY,
    optional: false,
    example: { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', dry_run: true },
  },
  responses: okResponse(
    'The estimate or the backfill',
    z.object({
      from: Height('First block to deliver'),
      to: Height('Last block to deliver'),
      estimate: Estimate.nullable().describe('Estimate; null without `dry_run`'),
      backfill: Backfill.nullable().describe('The backfill; null with `dry_run`'),
    }),
    {
      from: RANGE_EXAMPLE.from,
      to: RANGE_EXAMPLE.to,
      estimate: {
        rows: 2469134,
        rows_most: 2702000,
        exact: false,
        credits: '247.213',
        credits_most: '270.5',
        seconds: 340,
      },
      backfill: null,
    },
  ),
  refusals: [409],
  handle: async ({ params, body: { dry_run, ...order }, identity }, { pipelines }) => {
    const name = { ...identity, ...params }
    if (dry_run) {
      const plan = await pipelines.estimateBackfill(name, order)
      return plan.ok ? reply(200, { ...rangeOf(plan.value), estimate: estimateView(plan.value), backfill: null }) : plan
    }
    const ordered = await pipelines.orderBackfill(name, order)
    if (!ordered.ok) return ordered
    const backfill = viewOf(ordered.value.row, ordered.value.status)
    return reply(200, { from: backfill.from, to: backfill.to, estimate: null, backfill }, { price: 0 })
  },
})

const rangeOf = ({ range: { from, to } }: BackfillPlan) => ({ from, to })

function estimateView({ estimate, status }: BackfillPlan): z.infer<typeof Estimate> | null {
  if (estimate === null) return null
  const { rows, most, isExact, ms } = estimate
  const seconds = Math.ceil(ms / 1_000)
  return {
    rows,
    rows_most: most,
    exact: isExact,
    credits: formatCredits(costOf(status, rows, ms)),
    credits_most: formatCredits(costOf(status, most, ms)),
    seconds,
  }
}

const costOf = ({ rowMicro, minuteMicro }: SinkStatus, rows: number, ms: number): MicroCredits =>
  rows * rowMicro + Math.ceil(ms / MINUTE_MS) * minuteMicro

const showBackfillOfPipeline = defineEndpoint({
  id: 'pipelineBackfill',
  route: `GET ${PIPELINE_PATH}backfill/`,
  summary: 'Show the backfill of a pipeline and its progress',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse(
    'The backfill',
    z.object({
      available: z.boolean().describe('Whether rows of past blocks are stored for the topic'),
      backfill: Backfill.nullable().describe('The current or last backfill; null: none'),
      delivered: Delivered,
    }),
    {
      available: true,
      backfill: {
        from: RANGE_EXAMPLE.from,
        to: RANGE_EXAMPLE.to,
        phase: 'backfilling',
        height: 921400000,
        blocks_left: 834567,
        rows: 800000,
        message: null,
        created_at: '2026-11-24T09:30:00.000Z',
      },
      delivered: [],
    },
  ),
  handle: async ({ params, identity }, { pipelines }) => {
    const state = await pipelines.showBackfill({ ...identity, ...params })
    if (!state.ok) return state
    const { row, status, backfilled, hasPast: available } = state.value
    return reply(200, { available, backfill: row && viewOf(row, status), delivered: rangesOf(backfilled) })
  },
})

const cancelBackfill = defineEndpoint({
  id: 'cancelBackfill',
  route: `DELETE ${PIPELINE_PATH}backfill/`,
  summary: 'Cancel the backfill of a pipeline',
  description:
    'Stops it after its current batch. Delivered rows stay at the destination and stay charged. The blocks that are not delivered can be ordered again. Retry after a 503.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('Blocks that backfills of the pipeline have delivered', z.object({ delivered: Delivered }), {
    delivered: [{ from: RANGE_EXAMPLE.from, to: 921400000 }],
  }),
  refusals: [409],
  handle: async ({ params, identity }, { pipelines }) => {
    const delivered = await pipelines.cancelBackfill({ ...identity, ...params })
    return delivered.ok ? reply(200, { delivered: rangesOf(delivered.value) }) : delivered
  },
})

export const PIPELINE_BACKFILLS = [backfillPipeline, showBackfillOfPipeline, cancelBackfill]
