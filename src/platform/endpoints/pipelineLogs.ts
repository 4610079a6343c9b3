// GET /platform/pipeline-api/{id}/logs/.

import * as z from 'zod'
import { wholeNumber } from '../../core/whole-number.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { IsoTime, isoTime, PIPELINE_PARAMS, PIPELINE_PATH } from '../pipeline-shapes.ts'

const Line = z
  .object({
    id: z.int().describe('Grows with each line'),
    time: IsoTime,
    level: z.enum(['info', 'warn', 'error']).describe('How bad it is'),
    message: z.string().describe('What happened'),
    batch: z.string().nullable().describe('To which batch; null: to none'),
  })
  .meta({ id: 'PipelineLogLine' })

export const pipelineLogs = defineEndpoint(
  {
    id: 'pipelineLogs',
    method: 'get',
    path: `${PIPELINE_PATH}logs/`,
    summary: 'What happened to a pipeline, newest first',
    description: 'The last lines are kept. Where `next` is not null there are more: ask again with `before` = `next`.',
    door: 'service',
    params: PIPELINE_PARAMS,
    query: z.strictObject({
      before: wholeNumber(0, 999_999_999_999_999).optional().describe('`next` of the page before'),
      limit: wholeNumber(1, 500).default(100).describe('At most so many, up to 500; 100 unless said'),
    }),
    answers: {
      200: {
        description: 'A page of lines',
        schema: enveloped(
          z.object({
            items: z.array(Line).describe('Newest first'),
            next: z.int().nullable().describe('Where the next page begins; null: this is the last one'),
          }),
        ),
        example: inEnvelope({
          items: [
            { id: 12, time: '2026-11-24T09:30:00.000Z', level: 'info', message: 'paused by its owner', batch: null },
          ],
          next: null,
        }),
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { id }, query: { before = null, limit }, identity: { account, keyHash } }, { pipelines }) => {
    const lines = await pipelines.logs({ account, keyHash, id }, before, limit)
    if (!lines.ok) return lines
    const items = lines.value.map(({ id: number, atMs, level, words, batch }) => ({
      id: number,
      time: isoTime(atMs),
      level,
      message: words,
      batch,
    }))
    return reply(200, inEnvelope({ items, next: items.length < limit ? null : (items.at(-1)?.id ?? null) }))
  },
)
