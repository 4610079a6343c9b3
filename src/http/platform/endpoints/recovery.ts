// Operator endpoints for recovery and moves: compare D1 with the meters, export and import accounts and pipelines.

import * as z from 'zod'
import { ExportedAccount } from '../../../accounts/exported-account.ts'
import { AccountId, keyHashOf } from '../../../core/ids.ts'
import { ExportedPipeline } from '../../../pipelines/exported-pipeline.ts'
import { DEFAULTS } from '../../../pipelines/pipeline.ts'
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

const PIPELINE_EXAMPLE: z.infer<typeof ExportedPipeline> = {
  id: 'pipe_7YwRzDGpQk2mXc4vB9nT1a',
  account: 'acme',
  fields: {
    ...DEFAULTS,
    name: 'fills',
    topic: 'fills',
    execution_start_from: '985148183',
    destination_type: 'r2',
    destination_config: { type: 'r2', prefix: 'fills/', format: 'parquet' },
  },
  sealed: null,
  creator: 'a1'.repeat(32),
  creator_name: 'manager',
  payer: keyHashOf('a1'.repeat(32)),
  payer_name: 'manager',
  payer_root: 'a1'.repeat(32),
  destination_root: 'a1'.repeat(32),
  created: 1_785_542_400_000,
  updated: 1_785_542_400_000,
  delivered: [{ from: 985_000_000, to: 985_148_182 }],
  phase: 'paused',
}

const exportPipelines = defineEndpoint({
  id: 'exportPipelines',
  route: 'GET /admin/export/pipelines',
  summary: 'Export pipelines with the block at which they continue',
  description:
    'Exports five pipelines per call. Repeat with `after` = `next` until `next` is null. Backfills are not exported.',
  role: 'owner',
  query: z.strictObject({ after: z.string().max(64).optional().describe('Value of `next` from the previous call') }),
  responses: okResponse(
    'A page of pipelines',
    z.object({
      pipelines: z.array(ExportedPipeline).describe('Pipelines by id'),
      failed: z.array(z.string()).describe('Pipelines whose worker did not respond: repeat the call'),
      next: z.string().nullable().describe('Cursor for the next call; null: all pipelines are done'),
      key_secret_hash: z
        .string()
        .nullable()
        .describe('The same on gateways with the same `KEY_SECRET`; null: this gateway has none'),
    }),
    { pipelines: [PIPELINE_EXAMPLE], failed: [], key_secret_hash: 'b2'.repeat(32) },
  ),
  handle: async ({ query: { after = '' } }, { moves }) => {
    const { done, failed, next } = await moves.export(after)
    return reply(200, { pipelines: done, failed, next, key_secret_hash: await moves.keySecretHash() })
  },
})

const importPipeline = defineEndpoint({
  id: 'importPipeline',
  route: 'POST /admin/import/pipeline',
  summary: 'Import an exported pipeline',
  description:
    'The pipeline keeps its id and begins at `execution_start_from`. Its account must exist, and `KEY_SECRET` must be that of the other gateway. Idempotent.',
  role: 'owner',
  body: {
    schema: z.strictObject(ExportedPipeline.shape),
    optional: false,
    maxBytes: IMPORT_MAX_BYTES,
    example: PIPELINE_EXAMPLE,
  },
  responses: okResponse(
    'The pipeline',
    z.object({
      id: ExportedPipeline.shape.id,
      imported: z.boolean().describe('False: another pipeline with this id exists and stays unchanged'),
    }),
    { imported: true },
  ),
  refusals: [409],
  handle: async ({ body }, { moves }) => {
    const imported = await moves.import(body)
    return imported.ok ? reply(200, { id: body.id, imported: imported.value }) : imported
  },
})

export const RECOVERY = [reconcileAccounts, exportAccounts, importAccount, exportPipelines, importPipeline]
