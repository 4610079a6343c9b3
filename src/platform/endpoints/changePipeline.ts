// PATCH /platform/pipeline-api/{id}/.

import { PipelineChange } from '../../pipeline/changes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { inEnvelope } from '../envelope.ts'
import {
  groupOf,
  PIPELINE_BODY_BYTES,
  PIPELINE_PARAMS,
  PIPELINE_PATH,
  pipelineAnswer,
  shownPipeline,
} from '../pipeline-shapes.ts'

export const changePipeline = defineEndpoint(
  {
    id: 'changePipeline',
    method: 'patch',
    path: PIPELINE_PATH,
    summary: 'Change a pipeline; what is left out stays, what is sent is taken whole',
    description:
      'What was read may be sent back: `******` keeps the secret, as long as it goes to the same kind, scheme, host and ' +
      'port. `id`, `topic` and what the gateway writes cannot be changed. A 503 is to be sent again.',
    door: 'service',
    params: PIPELINE_PARAMS,
    body: {
      schema: PipelineChange,
      optional: false,
      example: { name: 'large fills', transforms: { large: 'SELECT * FROM fills' } },
      maxBytes: PIPELINE_BODY_BYTES,
    },
    answers: { 200: pipelineAnswer('The pipeline as it is now') },
    refusals: [400, 404, 409],
  },
  async ({ params: { id }, body, identity: { account, keyHash } }, platform) => {
    const row = await platform.pipelines.change({ account, keyHash, id }, body)
    if (!row.ok) return row
    return reply(200, inEnvelope(shownPipeline(row.value, await groupOf(account, platform))))
  },
)
