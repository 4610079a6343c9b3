// The operator's staff and the audit: who may act, who did what, and what came of it. Invariant: a token is in one answer only.

import * as z from 'zod'
import { ADMIN_OPERATOR, STAFF_ROLES } from '../../../accounts/staff.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, pageOf, UnixMs } from '../fields.ts'
import { Day, startOf } from '../usage-window.ts'

/** Plain, so that a line of the audit can only be read as what it is. */
export const StaffName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_", "@", "+" or "-", and begin with a letter or digit',
  )
  .refine(
    (name) => name.toLowerCase() !== ADMIN_OPERATOR.name,
    `must not be "${ADMIN_OPERATOR.name}": so whoever has ADMIN_TOKEN is called`,
  )
  .describe('Who it is, as the audit says it')

const Role = z
  .enum(STAFF_ROLES, `must be one of ${STAFF_ROLES.join(', ')}`)
  .describe(
    '`support`: reads; `billing`: grants credits, changes plans of accounts and settles orders, too; `owner`: everything',
  )

const StaffMember = z
  .object({
    name: StaffName,
    role: Role,
    created: UnixMs.describe('When the token was made, Unix milliseconds'),
    revoked: UnixMs.nullable().describe('When it was revoked, Unix milliseconds; null: it is not'),
  })
  .meta({ id: 'StaffMember' })

const listStaff = defineEndpoint({
  id: 'listStaff',
  route: 'GET /admin/staff',
  summary: 'Who has, or had, a token of the staff, newest first',
  role: 'owner',
  responses: okResponse(
    'The staff, without whoever has ADMIN_TOKEN',
    z.object({ staff: z.array(StaffMember).describe('Newest first, at most 1,000') }),
    { staff: [{ name: 'kim' }] },
  ),
  handle: async (_, { staff }) => reply(200, { staff: await staff.list() }),
})

const createStaff = defineEndpoint({
  id: 'createStaff',
  route: 'POST /admin/staff',
  summary: 'Give somebody a token of their own, with a role',
  description:
    'It is used in the place of `ADMIN_TOKEN`, here and to sign in to the console. Each person has one at a time: revoke it ' +
    'to make another.',
  body: {
    schema: z.strictObject({ name: StaffName, role: Role }),
    optional: false,
    example: { name: 'kim', role: 'support' },
  },
  responses: createdResponse(
    'The token',
    z.object({ token: z.string().describe('Shown this once'), name: StaffName, role: Role }),
    { token: 'cqo_9fKxWq2T9fKxWq2T9fKxWq2T9fKxWq2T9fKxWq2T', name: 'kim' },
  ),
  refusals: [409],
  handle: async ({ body: { name, role } }, { staff, now }) => {
    const token = await staff.add(name, role, now())
    if (token !== null) return reply(201, { token, name, role })
    return err({ kind: 'conflict', message: `name: ${name} has a token: revoke it first, or choose another name` })
  },
})

const revokeStaff = defineEndpoint({
  id: 'revokeStaff',
  route: 'DELETE /admin/staff/{name}',
  summary: 'End somebody’s token, and every session begun with it, at once',
  params: { name: StaffName },
  responses: okResponse('Revoked', z.object({ name: StaffName, revoked: UnixMs.describe('When, Unix milliseconds') }), {
    name: 'kim',
    revoked: 1790000000000,
  }),
  handle: async ({ params: { name } }, { staff, now }) => {
    const revoked = now()
    if (await staff.revoke(name, revoked)) return reply(200, { name, revoked })
    return err({ kind: 'not_found', what: 'This token', hint: `Nobody of the name "${name}" has a token.` })
  },
})

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

export const AUDIT_EXAMPLE = {
  number: 7,
  actor: 'kim',
  role: 'billing',
  action: 'grantCredits',
  target: 'acme',
  sent: '{"body":{"credits":500,"idempotency_key":"invoice-4711"}}',
  status: 200,
}

/** To be ended with which of them, in what order. */
export const AUDIT_ROWS = `SELECT a.number, a.at, a.actor, a.role, a.action, a.target,
  coalesce(a.account, o.account) AS account, a.sent, a.request_id, o.status
  FROM audit a LEFT JOIN audit_outcomes o ON o.number = a.number`
const ON_ACCOUNT =
  'a.number IN (SELECT number FROM audit WHERE account = ? UNION SELECT number FROM audit_outcomes WHERE account = ?)'

const listAudit = defineEndpoint({
  id: 'listAudit',
  route: 'GET /admin/audit',
  summary: 'Everything that was done behind this door, or tried, newest first',
  description:
    'One line for each request that is no `GET`, refused and failed ones too. It is written before anything is done, and ' +
    'nothing is done where that fails. Lines are never changed and never removed.',
  query: z.strictObject({
    actor: z.string().max(64).optional().describe('By this name alone'),
    action: z.string().max(64).optional().describe('Of this operation alone'),
    account: AccountId.optional().describe('On this account alone'),
    from: Day.optional().describe('First UTC day'),
    to: Day.optional().describe('Last UTC day, included'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of the audit',
    z.object({ audit: z.array(AuditLine).describe('Newest first'), next: Next }),
    { audit: [AUDIT_EXAMPLE] },
  ),
  handle: async ({ query: { actor, action, account, from, to, before, limit } }, platform) => {
    const conditions = [
      ['a.actor = ?', actor],
      ['a.action = ?', action],
      ['a.at >= ?', from && startOf(from)],
      ['a.at < ?', to && startOf(to) + DAY_MS],
      ['a.number < ?', before],
      [ON_ACCOUNT, account, account],
    ].filter(([, value]) => value !== undefined)
    const where = conditions.map(([sql]) => sql).join(' AND ') || 'true'
    const values = [...conditions.flatMap(([, ...each]) => each), limit + 1]
    const select = `${AUDIT_ROWS} WHERE ${where} ORDER BY a.number DESC LIMIT ?`
    const { rows, next } = pageOf(await platform.rows(AuditLine, select, ...values), limit)
    return reply(200, { audit: rows, next })
  },
})

export const STAFF = [listAudit, listStaff, createStaff, revokeStaff]
