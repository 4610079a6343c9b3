// Operator endpoints for recovery: compare D1 with the meters, export and import accounts.

import * as z from 'zod'
import { ExportedAccount } from '../../../accounts/exported-account.ts'
import { AccountId } from '../../../core/ids.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { MeterRegion } from '../fields.ts'

const Value = z.union([z.string(), z.number(), z.boolean()]).nullable()
const After = AccountId.optional().describe('Value of `next` from the previous call')
const NextAccount = AccountId.nullable().describe('Cursor for the next call; null: all accounts are done')
const Failed = z.array(AccountId).describe('Accounts that failed: see the log, then repeat')
const IMPORT_MAX_BYTES = 2 * 1024 * 1024

const reconcileAccounts = defineEndpoint({
  id: 'reconcileAccounts',
  route: 'POST /admin/reconcile',
  summary: 'Compare accounts in D1 with their meters, and repair the differences',
  description:
    'Compares five accounts per call. Repeat with `after` = `next` until `next` is null. A repair never gives a grant twice.',
  role: 'owner',
  body: {
    schema: z.strictObject({
      after: After,
      apply: z.boolean().default(false).describe('Whether to repair the differences'),
    }),
    optional: true,
    example: { apply: true },
  },
  responses: okResponse(
    'The differences',
    z.object({
      checked: z.int().describe('Number of accounts that were compared'),
      differences: z
        .array(
          z
            .object({
              account: AccountId,
              what: z
                .enum(['grant', 'used', 'plan', 'revoked', 'expires', 'cap', 'heir'])
                .describe('The value that differs; `used`: credits used, `heir`: the key that replaced this one'),
              id: z.string().describe('Id of the grant or hash of the key; empty: the account'),
              d1: Value.describe('Value in D1; amounts in micro-credits, times in Unix milliseconds'),
              meter: Value.describe('Value in the meter'),
              repair: z.enum(['d1', 'meter', 'none']).describe('Side that a repair changes; `none`: decide yourself'),
            })
            .meta({ id: 'AccountDifference' }),
        )
        .describe('Differences, in the order of their repair'),
      failed: Failed,
      next: NextAccount,
    }),
    { checked: 5, differences: [{ what: 'grant', d1: 500000000, meter: null, repair: 'meter' }], failed: [] },
  ),
  handle: async ({ body: { after = '', apply } }, { recovery }) => {
    const { done, failed, next } = await recovery.reconcile(after, apply)
    const differences = done.flatMap(({ account, differences }) =>
      differences.map((difference) => ({ account, ...difference })),
    )
    return reply(200, { checked: done.length, differences, failed, next })
  },
})

const EXAMPLE: z.infer<typeof ExportedAccount> = {
  account: 'acme',
  plan: 'entry',
  terms: null,
  created: 1_785_542_400_000,
  balance: 12_500_000,
  grants: [{ id: 'grant:invoice-4711', micro: 500_000_000, created: 1_785_542_400_000 }],
  keys: [],
  keys_left_out: 0,
}

const exportAccounts = defineEndpoint({
  id: 'exportAccounts',
  route: 'GET /admin/export',
  summary: 'Export accounts with their balance, grants and hashes of keys',
  description: 'Exports five accounts per call. Repeat with `after` = `next` until `next` is null.',
  role: 'owner',
  query: z.strictObject({ after: After }),
  responses: okResponse(
    'A page of accounts',
    z.object({ accounts: z.array(ExportedAccount).describe('Accounts by name'), failed: Failed, next: NextAccount }),
    { accounts: [EXAMPLE], failed: [] },
  ),
  handle: async ({ query: { after = '' } }, { recovery }) => {
    const { done, failed, next } = await recovery.export(after)
    return reply(200, { accounts: done, failed, next })
  },
})

const importAccount = defineEndpoint({
  id: 'importAccount',
  route: 'POST /admin/import',
  summary: 'Import an exported account',
  description:
    'An empty meter takes over the balance, once, and its plan gives the next credits with the next period; a meter in use is a conflict. Then adds rows that are missing. Idempotent.',
  role: 'owner',
  body: {
    schema: z.strictObject({ ...ExportedAccount.shape, region: MeterRegion }),
    optional: false,
    maxBytes: IMPORT_MAX_BYTES,
    example: EXAMPLE,
  },
  responses: okResponse(
    'The account',
    z.object({
      account: AccountId,
      imported: z.boolean().describe('False: another account with this name exists and stays unchanged'),
    }),
    { imported: true },
  ),
  handle: async ({ body: { region = null, ...exported } }, { recovery }) => {
    const imported = await recovery.import(exported, region)
    return imported.ok ? reply(200, { account: exported.account, imported: imported.value }) : imported
  },
})

export const RECOVERY = [reconcileAccounts, exportAccounts, importAccount]
