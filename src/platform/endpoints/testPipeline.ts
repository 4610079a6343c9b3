// POST /platform/pipeline-api/{id}/test/. Law: nothing is kept, neither of the body nor of what was delivered.

import * as z from 'zod'
import { TEST_PRICE } from '../../credit/tariff.ts'
import { PipelineChange } from '../../pipeline/changes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { PIPELINE_BODY_BYTES, PIPELINE_PARAMS, PIPELINE_PATH } from '../pipeline-shapes.ts'

export const testPipeline = defineEndpoint(
  {
    id: 'testPipeline',
    method: 'post',
    path: `${PIPELINE_PATH}test/`,
    summary: 'Send one batch of the newest rows to the destination',
    description:
      'Of the pipeline as it is, or as a body would change it, in the words of `PATCH`, which is then not kept. How far ' +
      'the pipeline is stays as it is. It costs one credit, whatever comes of it, and what its rows, at most 100, cost beyond that. An account ' +
      'makes one test at a time, and transforms have so much CPU time: another is a 409 or a 429 ' +
      'with `Retry-After` meanwhile. To try one before it runs, create it with `status` `paused`.',
    door: 'service',
    price: TEST_PRICE,
    params: PIPELINE_PARAMS,
    body: {
      schema: PipelineChange,
      optional: true,
      example: { transforms: { large: 'SELECT * FROM fills' } },
      maxBytes: PIPELINE_BODY_BYTES,
    },
    answers: {
      200: {
        description: 'What came of it, also where the destination refused',
        schema: enveloped(
          z.object({
            ok: z.boolean().describe('The destination confirmed'),
            rows: z.int().describe('Rows of the batch, before its transforms'),
            ms: z.number().describe('How long it took'),
            message: z.string().describe('What came of it'),
          }),
        ),
        example: inEnvelope({ ok: true, rows: 81, ms: 43, message: 'confirmed' }),
      },
    },
    refusals: [400, 404, 409],
  },
  async ({ params: { id }, body, identity: { account, keyHash } }, { pipelines }) => {
    const test = await pipelines.test({ account, keyHash, id }, body)
    if (!test.ok) return test
    const { ok, rows, ms, words } = test.value
    return reply(200, inEnvelope({ ok, rows, ms, message: words }))
  },
)
