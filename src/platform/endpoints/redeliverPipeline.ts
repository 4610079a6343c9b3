// POST /platform/pipeline-api/{id}/dead-letters/redeliver/.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { PIPELINE_PARAMS, PIPELINE_PATH } from '../pipeline-shapes.ts'

export const redeliverPipeline = defineEndpoint(
  {
    id: 'redeliverPipeline',
    method: 'post',
    path: `${PIPELINE_PATH}dead-letters/redeliver/`,
    summary: 'Send what was set aside once more',
    door: 'service',
    params: PIPELINE_PARAMS,
    answers: {
      200: {
        description: 'What is sent again',
        schema: enveloped(z.object({ batches: z.int().describe('Batches that were set aside') })),
        example: inEnvelope({ batches: 2 }),
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, identity: { account, keyHash } }, { pipelines }) => {
    const batches = await pipelines.redeliver({ account, keyHash, id })
    return batches.ok ? reply(200, inEnvelope({ batches: batches.value })) : batches
  },
)
