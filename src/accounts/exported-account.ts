// An account as it is exported and imported: its rows in D1, and its balance.

import * as z from 'zod'
import { AccountId } from '../core/ids.ts'

/** Accounts per call of an export or a comparison. */
export const RECOVERY_PAGE = 5

/** Grant of an imported balance. The rest of the id is another one for each export. */
export const IMPORT_GRANT = 'import:'

const Micro = z.int().min(0).describe('Micro-credits')
const Text = z.string().max(10_000)
const Time = z.int().describe('Unix milliseconds')

export const ExportedGrant = z
  .object({
    id: z.string().min(1).max(200).describe('Id of the grant'),
    micro: Micro,
    created: Time,
  })
  .meta({ id: 'ExportedGrant' })

export const ExportedKey = z
  .object({
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('SHA-256 of the key'),
    prefix: Text.describe('First 12 characters of the key'),
    label: Text.describe('Label of the key'),
    kind: z.enum(['api', 'service']).describe('Kind of the key'),
    products: Text.describe('JSON list of products'),
    created: Time,
    expires: Time.nullable(),
    revoked: Time.nullable(),
    cap: Micro.nullable(),
    ranges: Text.nullable().describe('JSON list of address ranges'),
    replaces: Text.nullable().describe('Hash of the key that this one replaced'),
    root: Text.nullable().describe('Hash of the first key in the chain of rotations'),
    rotation: Text.nullable().describe('JSON of the rotation that created this key'),
    request: Text.nullable().describe('Idempotency key of the request that created this key'),
    pipelines: z.enum(['own', 'all']).nullable().describe('Pipelines that the key may change'),
    maker: Text.nullable().describe('Hash of the first key in the chain of the key that created this one'),
  })
  .meta({ id: 'ExportedKey' })

const ACCOUNT = {
  account: AccountId,
  plan: z.string().min(1).max(64).describe('Name of the plan'),
  terms: Text.nullable().describe('JSON of the terms of this account'),
  created: Time,
}
/** The account row alone. */
export const ExportedRow = z.object(ACCOUNT)

export const ExportedAccount = z
  .object({
    ...ACCOUNT,
    balance: Micro.describe('Micro-credits that were left'),
    grants: z.array(ExportedGrant).max(1_000).describe('The newest grants, at most 1,000'),
    keys: z.array(ExportedKey).max(1_000).describe('At most 1,000 keys: live ones first, then the newest'),
    keys_left_out: z.int().min(0).default(0).describe('Number of keys beyond the limit, which are not in `keys`'),
  })
  .meta({ id: 'ExportedAccount' })
export type ExportedAccount = z.infer<typeof ExportedAccount>
export type AccountRows = Omit<ExportedAccount, 'balance'>
