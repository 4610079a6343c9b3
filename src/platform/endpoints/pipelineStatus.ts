// GET /platform/pipeline-api/{id}/status/: what became of what its owner wants.

import * as z from 'zod'
import { formatCredits } from '../../credit/amount.ts'
import { STATUSES } from '../../pipeline/pipeline.ts'
import type { SinkPhase } from '../../pipeline/sink-api.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { CreditsText } from '../fields.ts'
import { IsoTime, isoTime, PIPELINE_PARAMS, PIPELINE_PATH } from '../pipeline-shapes.ts'

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

export const pipelineStatus = defineEndpoint(
  {
    id: 'pipelineStatus',
    method: 'get',
    path: `${PIPELINE_PATH}status/`,
    summary: 'What a pipeline does, and how far it is',
    description:
      '`status` is what its owner wants, `phase` what became of it. Where that is `unpaid`, `last_error` says what is to be done.',
    door: 'service',
    params: PIPELINE_PARAMS,
    answers: {
      200: {
        description: 'Both statuses',
        schema: enveloped(Status),
        example: inEnvelope({
          id: 'pipe_9fKxWq2TbNkRzd5mYvHs4u',
          status: 'running',
          in_step: true,
          phase: 'live',
          height: 925000869,
          time: '2026-09-21T14:14:19.931Z',
          lag_blocks: 2,
          lag_ms: 140,
          rows: 81230,
          bytes: 30461250,
          batches: 2210,
          dead_letters: 0,
          attempts: 0,
          row_credits: '0.0001',
          next_try: null,
          pause_reason: null,
          last_error: null,
          last_incident: {
            since: '2026-09-21T13:02:10.004Z',
            recovered: '2026-09-21T13:04:31.220Z',
            message: 'the destination answered 503: on fire',
          },
        }),
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, identity: { account, keyHash } }, { pipelines }) => {
    const state = await pipelines.state({ account, keyHash, id })
    if (!state.ok) return state
    const { row, inStep, status } = state.value
    const { lastError: last = null, lastIncident: incident = null, rowMicro } = status ?? {}
    const phase: SinkPhase | 'unknown' = status?.phase ?? 'unknown'
    const isBehind = status !== null && phase !== 'finished'
    return reply(
      200,
      inEnvelope({
        id,
        status: row.fields.status,
        in_step: inStep,
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
      }),
    )
  },
)
