// GET /platform/pipeline-api/{id}/.

import { defineEndpoint, reply } from '../endpoint.ts'
import { inEnvelope } from '../envelope.ts'
import { groupOf, PIPELINE_PARAMS, PIPELINE_PATH, pipelineAnswer, shownPipeline } from '../pipeline-shapes.ts'

export const showPipeline = defineEndpoint(
  {
    id: 'showPipeline',
    method: 'get',
    path: PIPELINE_PATH,
    summary: 'A pipeline, without its secret',
    door: 'service',
    params: PIPELINE_PARAMS,
    answers: { 200: pipelineAnswer('The pipeline') },
    refusals: [404],
  },
  async ({ params: { id }, identity: { account, keyHash } }, platform) => {
    const row = await platform.pipelines.show({ account, keyHash, id })
    if (!row.ok) return row
    return reply(200, inEnvelope(shownPipeline(row.value, await groupOf(account, platform))))
  },
)
