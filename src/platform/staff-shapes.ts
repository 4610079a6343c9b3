// The staff of a gateway as the operator's API names and shows it.

import * as z from 'zod'
import { HOLDER, STAFF_ROLES } from '../key/staff.ts'
import { UnixMs } from './fields.ts'

/** Plain, so that a line of the audit can only be read as what it is. */
export const StaffName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_", "@", "+" or "-", and begin with a letter or digit',
  )
  .refine(
    (name) => name.toLowerCase() !== HOLDER.name,
    `must not be "${HOLDER.name}": so whoever has ADMIN_TOKEN is called`,
  )
  .describe('Who it is, as the audit says it')

export const Role = z
  .enum(STAFF_ROLES, `must be one of ${STAFF_ROLES.join(', ')}`)
  .describe(
    '`support`: reads; `billing`: grants credits, changes plans of accounts and settles orders, too; `owner`: everything',
  )

export const StaffMember = z
  .object({
    name: StaffName,
    role: Role,
    created: UnixMs.describe('When the token was made, Unix milliseconds'),
    revoked: UnixMs.nullable().describe('When it was revoked, Unix milliseconds; null: it is not'),
  })
  .meta({ id: 'StaffMember' })

export const STAFF_EXAMPLE = { name: 'kim', role: 'support', created: 1790000000000, revoked: null } as const
