// What became of a pipeline: its status, its log, its minutes, a test, and what was set aside.

import * as z from 'zod'
import { formatCredits } from '../../../core/amount.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { TEST_PRICE } from '../../../metering/tariff.ts'
import { PipelineChange } from '../../../pipelines/changes.ts'
import { STATUSES } from '../../../pipelines/pipeline.ts'
import type { SinkPhase } from '../../../pipelines/sink-api.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText } from '../fields.ts'
import { IsoTime, isoTime, PIPELINE_BODY_BYTES, PIPELINE_PARAMS, PIPELINE_PATH } from './pipelines.ts'

const PHASES = [
  ...(['idle', 'backfilling', 'live', 'pausing', 'paused', 'retrying', 'unpaid', 'failed', 'finished'] as const),
  'unknown',
] as const satisfies readonly (SinkPhase | 'unknown')[]

const Status = z
  .object({
    id: PIPELINE_PARAMS.id,
    status: z.enum(STATUSES).describe('What its owner wants'),
    in_step: z.boolean().describe('False: what runs it could not be told yet; it is told when it is asked for next'),
    phase: z
      .enum(PHASES)
      .describe(
        'What it does: `unpaid` where it waits for credits, `unknown` where what runs it did not answer, and all below is null',
      ),
    height: z.int().nullable().describe('The last block that the destination has confirmed; null: none yet'),
    time: IsoTime.nullable().describe('The time of that block, ISO 8601'),
    lag_blocks: z
      .int()
      .nullable()
      .describe('Blocks behind the newest one; null: not known, or it has `finished` and follows nothing any more'),
    lag_ms: z.number().nullable().describe('The same in milliseconds'),
    rows: z.int().nullable().describe('Delivered and confirmed'),
    bytes: z.int().nullable().describe('Delivered and confirmed'),
    batches: z.int().nullable().describe('Delivered and confirmed'),
    dead_letters: z.int().nullable().describe('Batches that were set aside'),
    row_credits: CreditsText.nullable().describe('Credits that a row costs once it arrived, a long one for each KiB'),
    attempts: z.int().nullable().describe('How often the batch that is on its way was tried'),
    next_try: IsoTime.nullable().describe('When it is tried again, ISO 8601; null: not waiting'),
    pause_reason: z
      .string()
      .nullable()
      .describe(
        'Why it is `paused` while its `status` is `running`: its key was revoked or has expired; null: it is not',
      ),
    last_error: z
      .object({
        since: IsoTime.describe('First failure, ISO 8601'),
        time: IsoTime.describe('Last failure, ISO 8601'),
        message: z.string().describe('Reason of the last failure'),
      })
      .nullable()
      .describe('Current failure; null: none'),
    last_incident: z
      .object({
        since: IsoTime.describe('First failure, ISO 8601'),
        recovered: IsoTime.describe('Time of recovery, ISO 8601'),
        message: z.string().describe('Reason of its last failure'),
      })
      .nullable()
      .describe('Last failure that is over; null: none'),
  })
  .meta({ id: 'PipelineStatus' })

const pipelineStatus = defineEndpoint({
  id: 'pipelineStatus',
  route: `GET ${PIPELINE_PATH}status/`,
  summary: 'What a pipeline does, and how far it is',
  description:
    '`status` is what its owner wants, `phase` what became of it. Where that is `unpaid`, `last_error` says what is to be done.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('Both statuses', Status, {
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
    last_error: null,
    last_incident: {
      since: '2026-09-21T13:02:10.004Z',
      recovered: '2026-09-21T13:04:31.220Z',
      message: 'The destination returned 503: on fire',
    },
  }),
  handle: async ({ params, identity }, { pipelines }) => {
    const state = await pipelines.state({ ...identity, ...params })
    if (!state.ok) return state
    const { row, inSync, status } = state.value
    const { lastError: last = null, lastIncident: incident = null, rowMicro } = status ?? {}
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
    id: z.int().describe('Grows with each line'),
    time: IsoTime,
    level: z.enum(['info', 'warn', 'error']).describe('How bad it is'),
    message: z.string().describe('What happened'),
    batch: z.string().nullable().describe('To which batch; null: to none'),
  })
  .meta({ id: 'PipelineLogLine' })

const pipelineLogs = defineEndpoint({
  id: 'pipelineLogs',
  route: `GET ${PIPELINE_PATH}logs/`,
  summary: 'What happened to a pipeline, newest first',
  description: 'The last lines are kept. Where `next` is not null there are more: ask again with `before` = `next`.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  query: z.strictObject({
    before: wholeNumber(0, 999_999_999_999_999).optional().describe('`next` of the page before'),
    limit: wholeNumber(1, 500).default(100).describe('At most so many, up to 500; 100 unless said'),
  }),
  responses: okResponse(
    'A page of lines',
    z.object({
      items: z.array(Line).describe('Newest first'),
      next: z.int().nullable().describe('Where the next page begins; null: this is the last one'),
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
    time: IsoTime.describe('When it began, ISO 8601'),
    rows: z.int().describe('Delivered and confirmed'),
    bytes: z.int().describe('Delivered and confirmed'),
    batches: z.int().describe('Delivered and confirmed'),
    failures: z.int().describe('Tries that failed'),
    lag_ms: z.number().nullable().describe('How far behind the newest block at its end; null: not known'),
  })
  .meta({ id: 'PipelineMinute' })

const pipelineMetrics = defineEndpoint({
  id: 'pipelineMetrics',
  route: `GET ${PIPELINE_PATH}metrics/`,
  summary: 'What a pipeline delivered, minute by minute',
  auth: 'service',
  params: PIPELINE_PARAMS,
  query: z.strictObject({
    minutes: wholeNumber(1, 1_440).default(60).describe('Of the last so many minutes, up to 1440; 60 unless said'),
  }),
  responses: okResponse(
    'Minutes with any work',
    z.object({ items: z.array(Minute).describe('Minutes with any work, in order of time') }),
    { items: [{ rows: 4860, bytes: 1822500, batches: 60, failures: 0 }] },
  ),
  handle: async ({ params, query: { minutes }, identity }, { pipelines }) => {
    const answer = await pipelines.metrics({ ...identity, ...params }, minutes)
    if (!answer.ok) return answer
    const items = answer.value.map(({ minuteMs, lagMs, ...sums }) => {
      return { ...sums, time: isoTime(minuteMs), lag_ms: lagMs }
    })
    return reply(200, { items })
  },
})

const testPipeline = defineEndpoint({
  id: 'testPipeline',
  route: `POST ${PIPELINE_PATH}test/`,
  summary: 'Send one batch of the newest rows to the destination',
  description:
    'Of the pipeline as it is, or as a body would change it, in the words of `PATCH`, which is then not kept. How far ' +
    'the pipeline is stays as it is. It costs one credit, whatever comes of it, and what its rows, at most 100, cost beyond that. An account ' +
    'makes one test at a time, and transforms have so much CPU time: another is a 409 or a 429 ' +
    'with `Retry-After` meanwhile. To try one before it runs, create it with `status` `paused`.',
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
    'What came of it, also where the destination refused',
    z.object({
      ok: z.boolean().describe('The destination confirmed'),
      rows: z.int().describe('Rows of the batch, before its transforms'),
      ms: z.number().describe('How long it took'),
      message: z.string().describe('What came of it'),
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

const redeliverPipeline = defineEndpoint({
  id: 'redeliverPipeline',
  route: `POST ${PIPELINE_PATH}dead-letters/redeliver/`,
  summary: 'Send what was set aside once more',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('What is sent again', z.object({ batches: z.int().describe('Batches that were set aside') }), {
    batches: 2,
  }),
  handle: async ({ params, identity }, { pipelines }) => {
    const batches = await pipelines.redeliver({ ...identity, ...params })
    return batches.ok ? reply(200, { batches: batches.value }) : batches
  },
})

export const PIPELINE_STATUS = [pipelineStatus, pipelineLogs, pipelineMetrics, testPipeline, redeliverPipeline]
