// DELETE /admin/staff/{name}.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { StaffName } from '../staff-shapes.ts'

export const revokeStaff = defineEndpoint(
  {
    id: 'revokeStaff',
    method: 'delete',
    path: '/admin/staff/{name}',
    summary: 'End somebody’s token, and every session begun with it, at once',
    door: 'admin',
    params: { name: StaffName },
    answers: {
      200: {
        description: 'Revoked',
        schema: z.object({ name: StaffName, revoked: UnixMs.describe('When, Unix milliseconds') }),
        example: { name: 'kim', revoked: 1790000000000 },
      },
    },
    refusals: [404],
  },
  async ({ params: { name } }, { staff, now }) => {
    const revoked = now()
    if (await staff.revoke(name, revoked)) return reply(200, { name, revoked })
    return err({ kind: 'not_found', what: 'This token', hint: `Nobody of the name "${name}" has a token.` })
  },
)
