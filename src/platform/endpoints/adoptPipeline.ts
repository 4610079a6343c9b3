// POST /platform/pipeline-api/{id}/adopt/.

import { defineEndpoint, reply } from '../endpoint.ts'
import { inEnvelope } from '../envelope.ts'
import { groupOf, PIPELINE_PARAMS, PIPELINE_PATH, pipelineAnswer, shownPipeline } from '../pipeline-shapes.ts'

export const adoptPipeline = defineEndpoint(
  {
    id: 'adoptPipeline',
    method: 'post',
    path: `${PIPELINE_PATH}adopt/`,
    summary: 'Charge a pipeline to the key that asks, from now on',
    description:
      'The pipeline then ends with this key and no longer with the one that it was charged to before. One that was paused because ' +
      'that key was revoked or expired goes on. Again is the same.',
    door: 'service',
    params: PIPELINE_PARAMS,
    answers: { 200: pipelineAnswer('The pipeline as it is now') },
    refusals: [404, 409],
  },
  async ({ params: { id }, identity: { account, keyHash } }, platform) => {
    const row = await platform.pipelines.adopt({ account, keyHash, id })
    if (!row.ok) return row
    return reply(200, inEnvelope(shownPipeline(row.value, await groupOf(account, platform))))
  },
)
