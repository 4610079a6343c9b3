// GET /platform/pipeline-api/{id}/metrics/.

import * as z from 'zod'
import { wholeNumber } from '../../core/whole-number.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { IsoTime, isoTime, PIPELINE_PARAMS, PIPELINE_PATH } from '../pipeline-shapes.ts'

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

export const pipelineMetrics = defineEndpoint(
  {
    id: 'pipelineMetrics',
    method: 'get',
    path: `${PIPELINE_PATH}metrics/`,
    summary: 'What a pipeline delivered, minute by minute',
    door: 'service',
    params: PIPELINE_PARAMS,
    query: z.strictObject({
      minutes: wholeNumber(1, 1_440).default(60).describe('Of the last so many minutes, up to 1440; 60 unless said'),
    }),
    answers: {
      200: {
        description: 'Minutes with any work',
        schema: enveloped(z.object({ items: z.array(Minute).describe('Minutes with any work, in order of time') })),
        example: inEnvelope({
          items: [
            { time: '2026-11-24T09:30:00.000Z', rows: 4860, bytes: 1822500, batches: 60, failures: 0, lag_ms: 140 },
          ],
        }),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { id }, query: { minutes }, identity: { account, keyHash } }, { pipelines }) => {
    const answer = await pipelines.metrics({ account, keyHash, id }, minutes)
    if (!answer.ok) return answer
    const items = answer.value.map(({ minuteMs, rows, bytes, batches, failures, lagMs }) => ({
      time: isoTime(minuteMs),
      rows,
      bytes,
      batches,
      failures,
      lag_ms: lagMs,
    }))
    return reply(200, inEnvelope({ items }))
  },
)
