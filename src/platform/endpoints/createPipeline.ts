// POST /platform/pipeline-api/.

import { NewPipeline } from '../../pipeline/changes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { inEnvelope } from '../envelope.ts'
import {
  groupOf,
  NEW_EXAMPLE,
  PIPELINE_BODY_BYTES,
  PIPELINES_PATH,
  pipelineAnswer,
  shownPipeline,
} from '../pipeline-shapes.ts'

export const createPipeline = defineEndpoint(
  {
    id: 'createPipeline',
    method: 'post',
    path: PIPELINES_PATH,
    summary: 'Create a pipeline',
    description:
      'It runs at once unless `status` is `paused`. Only `name`, `topic` and `destination_config` are required. ' +
      'Rows that arrive cost what `row_credits` of its status says, 0.0001 credits unless the operator says otherwise. ' +
      'The body has at most 1 MiB; an account has at most 50 pipelines and 8 MB of them (409).',
    door: 'service',
    body: { schema: NewPipeline, optional: false, example: NEW_EXAMPLE, maxBytes: PIPELINE_BODY_BYTES },
    answers: { 201: pipelineAnswer('The pipeline') },
    refusals: [400, 409],
  },
  async ({ body, identity: { account, keyHash } }, platform) => {
    const row = await platform.pipelines.create({ account, keyHash }, body)
    if (!row.ok) return row
    return reply(201, inEnvelope(shownPipeline(row.value, await groupOf(account, platform))))
  },
)
