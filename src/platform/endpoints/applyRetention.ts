// POST /admin/history/retention: removes what is too old, a turn at a time.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { Bytes, NO_ARCHIVE, Objects } from '../history-shapes.ts'

export const applyRetention = defineEndpoint(
  {
    id: 'applyRetention',
    method: 'post',
    path: '/admin/history/retention',
    summary: 'Remove at most 64 files of the archive that are older than their product is kept',
    description:
      'The archive does the same by itself, once a minute. Again until `objects` is 0 removes all at once, such as after ' +
      'days were set for the first time.',
    door: 'admin',
    answers: {
      200: {
        description: 'What was removed',
        schema: z.object({ objects: Objects.describe('Files that were removed; 0: no more is due'), bytes: Bytes }),
        example: { objects: 64, bytes: 190840832 },
      },
    },
    refusals: [],
  },
  async (_, { retention }) => {
    const freed = await retention().retain()
    return freed === null ? err(NO_ARCHIVE) : reply(200, { objects: freed.objects, bytes: freed.bytes })
  },
)
