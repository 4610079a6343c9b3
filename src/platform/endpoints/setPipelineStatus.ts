// PUT /platform/pipeline-api/{id}/. Law: nothing but `status` is set, whatever else the body holds.

import * as z from 'zod'
import { PIPELINE_FIELDS } from '../../pipeline/pipeline.ts'
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

export const setPipelineStatus = defineEndpoint(
  {
    id: 'setPipelineStatus',
    method: 'put',
    path: PIPELINE_PATH,
    summary: 'Run or pause a pipeline',
    description:
      'Sets `status` alone: any other field of the body is ignored. Again is the same. A pause takes effect after the ' +
      'batch that is on its way. A 503 is to be sent again: the record has the status, and what runs the pipeline does ' +
      'not know it yet.',
    door: 'service',
    params: PIPELINE_PARAMS,
    body: {
      schema: z.object({ status: PIPELINE_FIELDS.status }),
      optional: false,
      example: { status: 'paused' },
      maxBytes: PIPELINE_BODY_BYTES,
    },
    answers: { 200: pipelineAnswer('The pipeline as it is now') },
    refusals: [400, 404, 409],
  },
  async ({ params: { id }, body: { status }, identity: { account, keyHash } }, platform) => {
    const row = await platform.pipelines.change({ account, keyHash, id }, { status })
    if (!row.ok) return row
    return reply(200, inEnvelope(shownPipeline(row.value, await groupOf(account, platform))))
  },
)
