// GET /platform/pipeline-api/.

import * as z from 'zod'
import { wholeNumber } from '../../core/whole-number.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { groupOf, PAGE_EXAMPLE, PIPELINES_PATH, ShownPipeline, shownPipeline } from '../pipeline-shapes.ts'

export const listPipelines = defineEndpoint(
  {
    id: 'listPipelines',
    method: 'get',
    path: PIPELINES_PATH,
    summary: 'The account’s pipelines, newest first',
    door: 'service',
    query: z.strictObject({
      page_number: wholeNumber(0, 1_000).default(0).describe('From 0 on; 0 unless said'),
      page_size: wholeNumber(1, 50).default(10).describe('At most so many, up to 50; 10 unless said'),
    }),
    answers: {
      200: {
        description: 'A page of pipelines',
        schema: enveloped(
          z.object({
            items: z.array(ShownPipeline).describe('Newest first'),
            pagination: z
              .object({
                page_number: z.int().describe('From 0 on'),
                page_size: z.int().describe('Pipelines of a page at most'),
                total_count: z.int().describe('Pipelines of the account'),
                has_more: z.boolean().describe('There is a next page'),
              })
              .describe('Which page this is'),
          }),
        ),
        example: PAGE_EXAMPLE,
      },
    },
    refusals: [400],
  },
  async ({ query: { page_number: page, page_size: size }, identity: { account, keyHash } }, platform) => {
    const [{ rows, total }, group] = await Promise.all([
      platform.pipelines.page({ account, keyHash }, page * size, size),
      groupOf(account, platform),
    ])
    const pagination = { page_number: page, page_size: size, total_count: total, has_more: (page + 1) * size < total }
    return reply(200, inEnvelope({ items: rows.map((row) => shownPipeline(row, group)), pagination }))
  },
)
