// Staff tokens and the audit log. Invariant: a token appears only in the response that created it.

import * as z from 'zod'
import { ADMIN_OPERATOR, STAFF_ROLES } from '../../../accounts/staff.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { DAY_MS } from '../../../core/time.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, pageOf, UnixMs } from '../fields.ts'
import { Day, startOf } from '../usage-window.ts'

/** Plain ASCII, so that names in the audit log cannot be confused. */
export const StaffName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_", "@", "+" or "-", starting with a letter or digit',
  )
  .refine(
    (name) => name.toLowerCase() !== ADMIN_OPERATOR.name,
    `must not be "${ADMIN_OPERATOR.name}", the name of ADMIN_TOKEN`,
  )
  .describe('Name of the staff member, as in the audit log')

const Role = z
  .enum(STAFF_ROLES, `must be one of ${STAFF_ROLES.join(', ')}`)
  .describe(
    '`support`: read access; `billing`: also grants credits, changes account plans and settles orders; `owner`: full access',
  )

const StaffMember = z
  .object({
    name: StaffName,
    role: Role,
    created: UnixMs.describe('Creation time of the token, Unix milliseconds'),
    revoked: UnixMs.nullable().describe('Revocation time, Unix milliseconds; null: not revoked'),
  })
  .meta({ id: 'StaffMember' })

const listStaff = defineEndpoint({
  id: 'listStaff',
  route: 'GET /admin/staff',
  summary: 'List staff tokens, including revoked ones, newest first',
  role: 'owner',
  responses: okResponse(
    'The staff, without ADMIN_TOKEN',
    z.object({ staff: z.array(StaffMember).describe('Staff members, newest first, at most 1,000') }),
    { staff: [{ name: 'kim' }] },
  ),
  handle: async (_, { staff }) => reply(200, { staff: await staff.list() }),
})

const createStaff = defineEndpoint({
  id: 'createStaff',
  route: 'POST /admin/staff',
  summary: 'Create a staff token with a role',
  description:
    'The token is used instead of `ADMIN_TOKEN`, in this API and to sign in to the console. A person can have one token at a time; revoke it to create a new one.',
  body: {
    schema: z.strictObject({ name: StaffName, role: Role }),
    optional: false,
    example: { name: 'kim', role: 'support' },
  },
  responses: createdResponse(
    'The token',
    z.object({ token: z.string().describe('The token; shown only once'), name: StaffName, role: Role }),
    { token: 'cqo_9fKxWq2T9fKxWq2T9fKxWq2T9fKxWq2T9fKxWq2T', name: 'kim' },
  ),
  refusals: [409],
  handle: async ({ body: { name, role } }, { staff, now }) => {
    const token = await staff.add(name, role, now())
    if (token !== null) return reply(201, { token, name, role })
    return err({
      kind: 'conflict',
      message: `name: ${name} already has a token. Revoke it first or choose another name`,
    })
  },
})

const revokeStaff = defineEndpoint({
  id: 'revokeStaff',
  route: 'DELETE /admin/staff/{name}',
  summary: 'Revoke a staff token and its sessions immediately',
  params: { name: StaffName },
  responses: okResponse(
    'Revoked',
    z.object({ name: StaffName, revoked: UnixMs.describe('Revocation time, Unix milliseconds') }),
    {
      name: 'kim',
      revoked: 1790000000000,
    },
  ),
  handle: async ({ params: { name } }, { staff, now }) => {
    const revoked = now()
    if (await staff.revoke(name, revoked)) return reply(200, { name, revoked })
    return err({ kind: 'not_found', what: 'This token', hint: `"${name}" has no staff token.` })
  },
})

export const AuditLine = z
  .object({
    number: z.int().describe('Line number, increasing'),
    at: UnixMs.describe('Time of the request, Unix milliseconds'),
    actor: z.string().describe('Staff name, or `operator` for ADMIN_TOKEN'),
    role: z.enum(STAFF_ROLES).describe('Role at the time'),
    action: z.string().describe('Operation id, as in this document'),
    target: z.string().describe('Path parameters of the call; empty: none'),
    account: z.string().nullable().describe('Account concerned; null: none or unknown'),
    sent: z
      .string()
      .describe('Query and body as truncated JSON, without secrets and with invisible characters escaped'),
    request_id: z.string().describe('Request id of the response'),
    status: z
      .int()
      .nullable()
      .describe('HTTP status of the response; null: unknown, because the gateway stopped meanwhile'),
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

/** The SELECT statement, without its WHERE and ORDER BY clauses. */
export const AUDIT_ROWS = `SELECT a.number, a.at, a.actor, a.role, a.action, a.target,
  coalesce(a.account, o.account) AS account, a.sent, a.request_id, o.status
  FROM audit a LEFT JOIN audit_outcomes o ON o.number = a.number`
const ON_ACCOUNT =
  'a.number IN (SELECT number FROM audit WHERE account = ? UNION SELECT number FROM audit_outcomes WHERE account = ?)'

const listAudit = defineEndpoint({
  id: 'listAudit',
  route: 'GET /admin/audit',
  summary: 'List the audit log, newest first',
  description:
    'One line per request other than `GET`, including rejected and failed ones. Each line is written before the action; if that fails, the action is not taken. Lines are never changed or removed.',
  query: z.strictObject({
    actor: z.string().max(64).optional().describe('Only actions by this name'),
    action: z.string().max(64).optional().describe('Only this operation'),
    account: AccountId.optional().describe('Only actions on this account'),
    from: Day.optional().describe('First UTC day'),
    to: Day.optional().describe('Last UTC day, inclusive'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of the audit log',
    z.object({ audit: z.array(AuditLine).describe('Lines, newest first'), next: Next }),
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
