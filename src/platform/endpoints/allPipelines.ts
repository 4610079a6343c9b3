// GET /admin/pipelines: pipelines of all accounts.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, UnixMs } from '../fields.ts'
import { Before, Limit, Next, pageOf } from '../page-fields.ts'

const Listed = z
  .object({
    id: z.string().describe('`pipe_…`'),
    account: AccountId,
    name: z.string().describe('As its owner called it'),
    topic: z.string().describe('What it reads'),
    destination: z.string().describe('Where rows go: the type of its destination'),
    status: z.string().describe('What its owner wants of it'),
    created: UnixMs.describe('When it was made, Unix milliseconds'),
    updated: UnixMs.describe('When what its owner wants was last changed, Unix milliseconds'),
  })
  .meta({ id: 'PipelineOfAccount' })

export const allPipelines = defineEndpoint(
  {
    id: 'allPipelines',
    method: 'get',
    path: '/admin/pipelines',
    summary: 'Pipelines of all accounts, newest first',
    door: 'admin',
    query: z.strictObject({
      account: AccountId.optional().describe('Of this account alone'),
      before: Before,
      limit: Limit,
    }),
    answers: {
      200: {
        description: 'A page of pipelines',
        schema: z.object({ pipelines: z.array(Listed).describe('Newest first'), next: Next }),
        example: {
          pipelines: [
            {
              id: 'pipe_9fKxWq2TbNkRzd5mYvHs4u',
              account: 'acme',
              name: 'fills of two wallets',
              topic: 'fills',
              destination: 'clickhouse',
              status: 'running',
              created: 1790000000000,
              updated: 1790000000000,
            },
          ],
          next: null,
        },
      },
    },
    refusals: [],
  },
  async ({ query: { account, before, limit } }, { business }) => {
    const { rows, next } = pageOf(await business.pipelines(account, before, limit + 1), limit)
    const pipelines = rows.map(({ row: { id, account, fields, createdMs, updatedMs } }) => {
      const { name, topic, destination_type: destination, status } = fields
      return { id, account, name, topic, destination, status, created: createdMs, updated: updatedMs }
    })
    return reply(200, { pipelines, next })
  },
)
