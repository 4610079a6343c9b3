// DELETE /platform/pipeline-api/{id}/.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { PIPELINE_PARAMS, PIPELINE_PATH } from '../pipeline-shapes.ts'

export const removePipeline = defineEndpoint(
  {
    id: 'removePipeline',
    method: 'delete',
    path: PIPELINE_PATH,
    summary: 'Delete a pipeline and all that is kept of it',
    description: 'What was delivered stays where it is. A 503 is to be sent again until there is a 200, or a 404.',
    door: 'service',
    params: PIPELINE_PARAMS,
    answers: {
      200: {
        description: 'It is gone',
        schema: enveloped(z.object({ id: PIPELINE_PARAMS.id })),
        example: inEnvelope({ id: 'pipe_9fKxWq2TbNkRzd5mYvHs4u' }),
      },
    },
    refusals: [404],
  },
  async ({ params: { id }, identity: { account, keyHash } }, { pipelines }) => {
    const removed = await pipelines.remove({ account, keyHash, id })
    return removed.ok ? reply(200, inEnvelope({ id })) : removed
  },
)
