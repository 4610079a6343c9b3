// POST /admin/feed/reset.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'

export const resetFeed = defineEndpoint(
  {
    id: 'resetFeed',
    method: 'post',
    path: '/admin/feed/reset',
    summary: 'Begin a new log, for a node that started over',
    description: 'Books and heights begin anew and clients bootstrap again; accounts and keys stay.',
    door: 'admin',
    answers: {
      200: {
        description: 'The log is empty',
        schema: z.object({ reset: z.literal(true).describe('The log is empty') }),
        example: { reset: true },
      },
    },
    refusals: [],
  },
  async (_, { log }) => {
    await log().reset()
    return reply(200, { reset: true })
  },
)
