// GET /admin/audit: who did what, and what came of it.

import * as z from 'zod'
import { DAY_MS } from '../../core/time.ts'
import { STAFF_ROLES } from '../../key/staff.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { AccountId, UnixMs } from '../fields.ts'
import type { AuditEntry } from '../operator-api.ts'
import { Before, Limit, Next, pageOf } from '../page-fields.ts'
import { Day, startOf } from '../usage-window.ts'

export const AuditLine = z
  .object({
    number: z.int().describe('Its place: later ones have larger numbers'),
    at: UnixMs.describe('When it was asked for, Unix milliseconds'),
    actor: z.string().describe('Who asked: a name of the staff, or `operator`, who has ADMIN_TOKEN'),
    role: z.enum(STAFF_ROLES).describe('What their role was then'),
    action: z.string().describe('The operation’s id, as in this document'),
    target: z.string().describe('What it was done to, as the path names it; empty: the gateway'),
    account: z.string().nullable().describe('Whose that is; null: nobody’s, or not known'),
    sent: z.string().describe('Query and body as JSON, without secrets, cut short; what is unseen is escaped'),
    request_id: z.string().describe('As the answer had it'),
    status: z
      .int()
      .nullable()
      .describe('HTTP status of the answer; null: it is not known what came of it, since the gateway ended meanwhile'),
  })
  .meta({ id: 'AuditLine' })

export const AUDIT_EXAMPLE: AuditEntry = {
  number: 7,
  at: 1790000000000,
  actor: 'kim',
  role: 'billing',
  action: 'grantCredits',
  target: 'acme',
  account: 'acme',
  sent: '{"body":{"credits":500,"idempotency_key":"invoice-4711"}}',
  request_id: 'req_7XkPqZ4mNbVcRt2Y',
  status: 200,
}

export const listAudit = defineEndpoint(
  {
    id: 'listAudit',
    method: 'get',
    path: '/admin/audit',
    summary: 'Everything that was done behind this door, or tried, newest first',
    description:
      'One line for each request that is no `GET`, refused and failed ones too. It is written before anything is done, and ' +
      'nothing is done where that fails. Lines are never changed and never removed.',
    door: 'admin',
    query: z.strictObject({
      actor: z.string().max(64).optional().describe('By this name alone'),
      action: z.string().max(64).optional().describe('Of this operation alone'),
      account: AccountId.optional().describe('On this account alone'),
      from: Day.optional().describe('First UTC day'),
      to: Day.optional().describe('Last UTC day, included'),
      before: Before,
      limit: Limit,
    }),
    answers: {
      200: {
        description: 'A page of the audit',
        schema: z.object({ audit: z.array(AuditLine).describe('Newest first'), next: Next }),
        example: { audit: [AUDIT_EXAMPLE], next: null },
      },
    },
    refusals: [],
  },
  async ({ query: { from, to, limit, ...filter } }, { audit }) => {
    const times = {
      from: from === undefined ? undefined : startOf(from),
      to: to === undefined ? undefined : startOf(to) + DAY_MS,
    }
    const { rows, next } = pageOf(await audit.page({ ...filter, ...times }, limit + 1), limit)
    return reply(200, { audit: rows, next })
  },
)
