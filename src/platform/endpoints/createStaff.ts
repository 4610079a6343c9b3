// POST /admin/staff. Law: the token is in this answer alone.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { Role, StaffName } from '../staff-shapes.ts'

export const createStaff = defineEndpoint(
  {
    id: 'createStaff',
    method: 'post',
    path: '/admin/staff',
    summary: 'Give somebody a token of their own, with a role',
    description:
      'It is used in the place of `ADMIN_TOKEN`, here and to sign in to the console. Each person has one at a time: revoke it ' +
      'to make another.',
    door: 'admin',
    body: {
      schema: z.strictObject({ name: StaffName, role: Role }),
      optional: false,
      example: { name: 'kim', role: 'support' },
    },
    answers: {
      201: {
        description: 'The token',
        schema: z.object({ token: z.string().describe('Shown this once'), name: StaffName, role: Role }),
        example: { token: `cqo_${'9fKxWq2T'.repeat(5)}`, name: 'kim', role: 'support' },
      },
    },
    refusals: [409],
  },
  async ({ body: { name, role } }, { staff, now }) => {
    const token = await staff.add(name, role, now())
    if (token !== null) return reply(201, { token, name, role })
    return err({ kind: 'conflict', message: `name: ${name} has a token: revoke it first, or choose another name` })
  },
)
