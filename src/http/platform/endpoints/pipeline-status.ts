// Status, log, metrics, test and redelivery of a pipeline.

import * as z from 'zod'
import { formatCredits } from '../../../core/amount.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { TEST_PRICE } from '../../../metering/tariff.ts'
import { PipelineChange, PipelinePreview } from '../../../pipelines/changes.ts'
import { STATUSES } from '../../../pipelines/pipeline.ts'
import type { SinkPhase } from '../../../pipelines/sink-api.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { IsoTime, isoTime, PIPELINE_BODY_BYTES, PIPELINE_PARAMS, PIPELINE_PATH, PIPELINES_PATH } from './pipelines.ts'

export const PHASES = [
  ...(['idle', 'backfilling', 'live', 'pausing', 'paused', 'retrying', 'unpaid', 'failed', 'finished'] as const),
  'unknown',
] as const satisfies readonly (SinkPhase | 'unknown')[]

const Status = z
  .object({
    id: PIPELINE_PARAMS.id,
    status: z.enum(STATUSES).describe('Desired status set by the owner'),
    in_step: z
      .boolean()
      .describe('Whether the pipeline’s worker has the current settings; if false, the next request syncs them'),
    phase: z
      .enum(PHASES)
      .describe(
        'Actual phase. `unpaid`: waiting for credits; `unknown`: the worker did not respond, and the fields below are null',
      ),
    height: z.int().nullable().describe('Last block confirmed by the destination; null: none yet'),
    time: IsoTime.nullable().describe('Time of that block, ISO 8601'),
    lag_blocks: z
      .int()
      .nullable()
      .describe('Number of blocks behind the newest block; null: unknown, or the phase is `finished`'),
    lag_ms: z
      .number()
      .nullable()
      .describe('Milliseconds behind the newest block; null: unknown, or the phase is `finished`'),
    rows: z.int().nullable().describe('Rows delivered and confirmed'),
    bytes: z.int().nullable().describe('Bytes delivered and confirmed'),
    batches: z.int().nullable().describe('Batches delivered and confirmed'),
    dead_letters: z.int().nullable().describe('Batches in the dead-letter queue'),
    row_credits: CreditsText.nullable().describe(
      'Price of a delivered row of up to 1 KiB; a longer row costs this price per KiB',
    ),
    minute_credits: CreditsText.nullable().describe('Price of a minute in which the pipeline runs'),
    attempts: z.int().nullable().describe('Delivery attempts of the current batch'),
    next_try: IsoTime.nullable().describe('Next retry, ISO 8601; null: not waiting'),
    pause_reason: z
      .string()
      .nullable()
      .describe(
        'Why the phase is `paused` although `status` is `running` (the key was revoked or expired); null: not paused',
      ),
    last_error: z
      .object({
        since: IsoTime.describe('First failure, ISO 8601'),
        time: IsoTime.describe('Last failure, ISO 8601'),
        message: z.string().describe('Reason of the last failure'),
      })
      .nullable()
      .describe('Ongoing failure; null: none'),
    last_incident: z
      .object({
        since: IsoTime.describe('First failure, ISO 8601'),
        recovered: IsoTime.describe('Time of recovery, ISO 8601'),
        message: z.string().describe('Reason of the last failure'),
      })
      .nullable()
      .describe('Last resolved failure; null: none'),
  })
  .meta({ id: 'PipelineStatus' })

const pipelineStatus = defineEndpoint({
  id: 'pipelineStatus',
  route: `GET ${PIPELINE_PATH}status/`,
  summary: 'Show the status and progress of a pipeline',
  description:
    '`status` is the desired status, `phase` the actual one. If `phase` is `unpaid`, `last_error` says what to do.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The status', Status, {
    in_step: true,
    phase: 'live',
    height: 925000869,
    time: '2026-09-21T14:14:19.931Z',
    lag_blocks: 2,
    rows: 81230,
    bytes: 30461250,
    batches: 2210,
    dead_letters: 0,
    row_credits: '0.0001',
    minute_credits: '0.05',
    last_error: null,
    last_incident: {
      since: '2026-09-21T13:02:10.004Z',
      recovered: '2026-09-21T13:04:31.220Z',
      message: 'The destination returned 503: overloaded',
    },
  }),
  handle: async ({ params, identity }, { pipelines }) => {
    const state = await pipelines.state({ ...identity, ...params })
    if (!state.ok) return state
    const { row, inSync, status } = state.value
    const { lastError: last = null, lastIncident: incident = null, rowMicro, minuteMicro } = status ?? {}
    const phase: SinkPhase | 'unknown' = status?.phase ?? 'unknown'
    const isBehind = status !== null && phase !== 'finished'
    return reply(200, {
      id: row.id,
      status: row.fields.status,
      in_step: inSync,
      phase,
      height: status?.height ?? null,
      time: isoTime(status?.timeMs ?? null),
      lag_blocks: isBehind ? status.lagBlocks : null,
      lag_ms: isBehind ? status.lagMs : null,
      rows: status?.rows ?? null,
      bytes: status?.bytes ?? null,
      batches: status?.batches ?? null,
      dead_letters: status?.deadLetters ?? null,
      row_credits: rowMicro === undefined ? null : formatCredits(rowMicro),
      minute_credits: minuteMicro === undefined ? null : formatCredits(minuteMicro),
      attempts: status?.attempts ?? null,
      next_try: isoTime(status?.nextTryMs ?? null),
      pause_reason: status?.pauseReason ?? null,
      last_error: last && { since: isoTime(last.sinceMs), time: isoTime(last.atMs), message: last.words },
      last_incident: incident && {
        since: isoTime(incident.sinceMs),
        recovered: isoTime(incident.untilMs),
        message: incident.words,
      },
    })
  },
})

const Line = z
  .object({
    id: z.int().describe('Line id, increasing'),
    time: IsoTime,
    level: z.enum(['info', 'warn', 'error']).describe('Severity'),
    message: z.string().describe('Message'),
    batch: z.string().nullable().describe('Batch id; null: none'),
  })
  .meta({ id: 'PipelineLogLine' })

const pipelineLogs = defineEndpoint({
  id: 'pipelineLogs',
  route: `GET ${PIPELINE_PATH}logs/`,
  summary: 'List the log lines of a pipeline, newest first',
  description: 'Only the latest lines are kept. If `next` is not null, request the next page with `before` = `next`.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  query: z.strictObject({
    before: wholeNumber(0, 999_999_999_999_999).optional().describe('Value of `next` from the previous page'),
    limit: wholeNumber(1, 500).default(100).describe('Maximum lines per page, up to 500; default 100'),
  }),
  responses: okResponse(
    'A page of lines',
    z.object({
      items: z.array(Line).describe('Lines, newest first'),
      next: z.int().nullable().describe('Cursor for the next page; null: last page'),
    }),
    { items: [{ id: 12, message: 'paused by its owner' }] },
  ),
  handle: async ({ params, query: { before = null, limit }, identity }, { pipelines }) => {
    const lines = await pipelines.logs({ ...identity, ...params }, before, limit)
    if (!lines.ok) return lines
    const items = lines.value.map(({ atMs, words, ...line }) => ({ ...line, time: isoTime(atMs), message: words }))
    return reply(200, { items, next: items.length < limit ? null : (items.at(-1)?.id ?? null) })
  },
})

const Minute = z
  .object({
    time: IsoTime.describe('Start of the minute, ISO 8601'),
    rows: z.int().describe('Rows delivered and confirmed'),
    bytes: z.int().describe('Bytes delivered and confirmed'),
    batches: z.int().describe('Batches delivered and confirmed'),
    failures: z.int().describe('Failed attempts'),
    lag_ms: z
      .number()
      .nullable()
      .describe('Milliseconds behind the newest block at the end of the minute; null: unknown'),
  })
  .meta({ id: 'PipelineMinute' })

const pipelineMetrics = defineEndpoint({
  id: 'pipelineMetrics',
  route: `GET ${PIPELINE_PATH}metrics/`,
  summary: 'Show the per-minute metrics of a pipeline',
  auth: 'service',
  params: PIPELINE_PARAMS,
  query: z.strictObject({
    minutes: wholeNumber(1, 1_440).default(60).describe('Number of past minutes, up to 1,440; default 60'),
  }),
  responses: okResponse(
    'Minutes with activity',
    z.object({ items: z.array(Minute).describe('Minutes with activity, oldest first') }),
    { items: [{ rows: 4860, bytes: 1822500, batches: 60, failures: 0 }] },
  ),
  handle: async ({ params, query: { minutes }, identity }, { pipelines }) => {
    const metrics = await pipelines.metrics({ ...identity, ...params }, minutes)
    if (!metrics.ok) return metrics
    const items = metrics.value.map(({ minuteMs, lagMs, ...sums }) => {
      return { ...sums, time: isoTime(minuteMs), lag_ms: lagMs }
    })
    return reply(200, { items })
  },
})

const testPipeline = defineEndpoint({
  id: 'testPipeline',
  route: `POST ${PIPELINE_PATH}test/`,
  summary: 'Test a pipeline with one batch of the newest rows',
  description:
    'Tests the pipeline as it is, or with the changes in the body (same fields as `PATCH`). Neither the changes nor a new position is saved. A test costs 1 credit, or the price of its rows (at most 100) if that is higher. While a test of the pipeline runs, another is rejected with 409. If another pipeline of the account is being tested, or the transforms’ CPU budget is used up, the call is rejected with 429 and `Retry-After`. To test a pipeline before it runs, create it with `status` `paused`.',
  auth: 'service',
  price: TEST_PRICE,
  params: PIPELINE_PARAMS,
  body: {
    schema: PipelineChange,
    optional: true,
    example: { transforms: { large: 'SELECT * FROM fills' } },
    maxBytes: PIPELINE_BODY_BYTES,
  },
  responses: okResponse(
    'The result, even if the destination rejected the batch',
    z.object({
      ok: z.boolean().describe('Whether the destination confirmed the batch'),
      rows: z.int().describe('Rows of the batch before transforms'),
      ms: z.number().describe('Duration in milliseconds'),
      message: z.string().describe('Result message'),
    }),
    { ok: true, rows: 81, ms: 43, message: 'confirmed' },
  ),
  refusals: [409],
  handle: async ({ params, body, identity }, { pipelines }) => {
    const test = await pipelines.test({ ...identity, ...params }, body)
    if (!test.ok) return test
    const { ok, rows, ms, words } = test.value
    return reply(200, { ok, rows, ms, message: words })
  },
})

const previewPipeline = defineEndpoint({
  id: 'previewPipeline',
  route: `POST ${PIPELINES_PATH}preview/`,
  summary: 'Preview ten rows of a pipeline that need not exist',
  description:
    'Reads the newest blocks, applies the filter and the transforms, and returns the last ten rows. Nothing is sent or stored. It reads at most 20,000 blocks, 24 MiB and ten seconds. An error of a transform is a 400 that names it. An account can run one preview or test at a time; another is rejected with 429 and `Retry-After`. A preview costs 1 credit. `order_updates` and `replica_cmds` only have rows while they are requested, see the test.',
  auth: 'service',
  price: TEST_PRICE,
  body: {
    schema: PipelinePreview,
    optional: false,
    example: { topic: 'fills', transforms: { large: 'SELECT * FROM fills' } },
    maxBytes: PIPELINE_BODY_BYTES,
  },
  responses: okResponse(
    'The rows',
    z.object({
      rows: z.array(z.looseObject({})).describe('At most ten rows, oldest first, at most 256 KiB'),
      read: z.int().describe('Rows before transforms that were read for them'),
      from: z.int().nullable().describe('First block that was read; null: none'),
      to: z.int().nullable().describe('Last block that was read; null: none'),
    }),
    { rows: [{ _kind: 'row', coin: 'BTC', px: '97000.0', sz: '0.1' }], read: 412, from: 925000770, to: 925000869 },
  ),
  handle: async ({ body, identity }, { pipelines }) => {
    const shown = await pipelines.preview(identity, body)
    if (!shown.ok) return shown
    const { texts, read, blocks } = shown.value
    const rows = texts.map((text) => JSON.parse(text))
    return reply(200, { rows, read, from: blocks?.from ?? null, to: blocks?.to ?? null })
  },
})

const redeliverPipeline = defineEndpoint({
  id: 'redeliverPipeline',
  route: `POST ${PIPELINE_PATH}dead-letters/redeliver/`,
  summary: 'Redeliver a pipeline’s dead letters',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The batches to redeliver', z.object({ batches: z.int().describe('Number of batches') }), {
    batches: 2,
  }),
  handle: async ({ params, identity }, { pipelines }) => {
    const batches = await pipelines.redeliver({ ...identity, ...params })
    return batches.ok ? reply(200, { batches: batches.value }) : batches
  },
})

export const PIPELINE_STATUS = [
  pipelineStatus,
  pipelineLogs,
  pipelineMetrics,
  testPipeline,
  previewPipeline,
  redeliverPipeline,
]
