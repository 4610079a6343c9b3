// Operator endpoints for recovery: compare D1 with the meters, export and import accounts.

import * as z from 'zod'
import { ExportedAccount, RECOVERY_PAGE } from '../../../accounts/exported-account.ts'
import { AccountId } from '../../../core/ids.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'

const Value = z.union([z.string(), z.number(), z.boolean()]).nullable()
const After = AccountId.optional().describe('Value of `next` from the previous call')
const NextAccount = AccountId.nullable().describe('Cursor for the next call; null: all accounts are done')
const IMPORT_MAX_BYTES = 2 * 1024 * 1024

/** The last account of a full page. */
const nextOf = (page: readonly { readonly account: string }[]) =>
  page.length < RECOVERY_PAGE ? null : (page.at(-1)?.account ?? null)

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
      next: NextAccount,
    }),
    { checked: 5, differences: [{ what: 'grant', d1: 500000000, meter: null, repair: 'meter' }] },
  ),
  handle: async ({ body: { after = '', apply } }, { recovery }) => {
    const page = await recovery.reconcile(after, apply)
    const differences = page.flatMap(({ account, differences }) =>
      differences.map((difference) => ({ account, ...difference })),
    )
    return reply(200, { checked: page.length, differences, next: nextOf(page) })
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
    z.object({ accounts: z.array(ExportedAccount).describe('Accounts by name'), next: NextAccount }),
    { accounts: [EXAMPLE] },
  ),
  handle: async ({ query: { after = '' } }, { recovery }) => {
    const accounts = await recovery.export(after)
    return reply(200, { accounts, next: nextOf(accounts) })
  },
})

const importAccount = defineEndpoint({
  id: 'importAccount',
  route: 'POST /admin/import',
  summary: 'Import an exported account',
  description:
    'Adds rows that are missing. A meter without grants takes over the balance, once. Its plan gives its next credits with the next period. Idempotent.',
  role: 'owner',
  body: {
    schema: z.strictObject(ExportedAccount.shape),
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
  handle: async ({ body }, { recovery }) => {
    const imported = await recovery.import(body)
    return imported.ok ? reply(200, { account: body.account, imported: imported.value }) : imported
  },
})

export const RECOVERY = [reconcileAccounts, exportAccounts, importAccount]
