// GET /admin/staff.

import * as z from 'zod'
import { defineEndpoint, reply } from '../endpoint.ts'
import { STAFF_EXAMPLE, StaffMember } from '../staff-shapes.ts'

export const listStaff = defineEndpoint(
  {
    id: 'listStaff',
    method: 'get',
    path: '/admin/staff',
    summary: 'Who has, or had, a token of the staff, newest first',
    door: 'admin',
    role: 'owner',
    answers: {
      200: {
        description: 'The staff, without whoever has ADMIN_TOKEN',
        schema: z.object({ staff: z.array(StaffMember).describe('Newest first, at most 1,000') }),
        example: { staff: [STAFF_EXAMPLE] },
      },
    },
    refusals: [],
  },
  async (_, { staff }) => reply(200, { staff: await staff.list() }),
)
