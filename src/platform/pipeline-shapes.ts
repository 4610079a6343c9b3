// Pipelines as the platform names and shows them.

import * as z from 'zod'
import type { Failure } from '../core/failure.ts'
import { leftOf } from '../credit/account-state.ts'
import { PIPELINE_FIELDS, ShownDestination } from '../pipeline/pipeline.ts'
import type { PipelineRow } from '../pipeline/row.ts'
import { enveloped, inEnvelope } from './envelope.ts'
import type { Platform } from './platform-api.ts'

export const PIPELINES_PATH = '/platform/pipeline-api/'
export const PIPELINE_PATH = `${PIPELINES_PATH}{id}/` as const
export const PIPELINE_PARAMS = { id: z.string().describe('Id of the pipeline, `pipe_…`') }
/** Room for transforms. */
export const PIPELINE_BODY_BYTES = 1_048_576

export const NO_PIPELINE: Failure = { kind: 'not_found', what: 'This pipeline' }

export const IsoTime = z.string().describe('ISO 8601')

export function isoTime<Ms extends number | null>(ms: Ms): Ms extends null ? null : string
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

const Creator = z.object({
  id: z.string().describe('`user_` and the beginning of the hash of the service key that made it'),
  email: z.string().describe('Empty: keys have none'),
  display_name: z.string().describe('What that key was called then'),
  full_name: z.string().describe('The same'),
})

const ChargedTo = z.object({
  id: z.string().describe('`user_` and the beginning of the hash of the service key'),
  display_name: z.string().describe('What that key was called then'),
})

const Group = z.object({
  id: z.string().describe('`group_` and the account'),
  name: z.string().describe('The account'),
  slug: z.string().describe('The same in lower case'),
  is_paid: z.boolean().describe('Its plan gives credits every month'),
  is_over_limit: z.boolean().describe('It has no credits left'),
  is_free_trial_expired: z.boolean().describe('Its plan gave credits once, and has ended'),
})
type Group = z.infer<typeof Group>

export const ShownPipeline = z
  .object({
    id: z.string().describe('`pipe_…`'),
    ...PIPELINE_FIELDS,
    destination_config: ShownDestination.describe('Where rows go, `******` in place of a secret'),
    created_by: Creator.describe('Who made it'),
    charged_to: ChargedTo.describe(
      'The key that its rows are charged to, and with which it ends: the last one that set it to run, changed what it sends, or ' +
        'adopted it',
    ),
    group: Group.describe('Whose it is'),
    created_at: IsoTime.describe('When it was made, ISO 8601'),
    updated_at: IsoTime.describe('When what its owner wants was last changed, ISO 8601'),
  })
  .meta({ id: 'Pipeline' })

/** The account as pipelines show it, by what its meter says now. */
export async function groupOf(account: string, { meterOf }: Pick<Platform, 'meterOf'>): Promise<Group> {
  const meter = meterOf(account)
  const [plan, sums] = await Promise.all([meter.plan(), meter.balance()])
  const isPaid = plan?.renews ?? false
  return {
    id: `group_${account}`,
    name: account,
    slug: account.toLowerCase(),
    is_paid: isPaid,
    is_over_limit: leftOf(sums) <= 0,
    // A plan that gave credits once has no end any more, and none of its credits, when it has ended.
    is_free_trial_expired: plan !== null && !isPaid && plan.untilMs === null && plan.micro === 0,
  }
}

export function shownPipeline(row: PipelineRow, group: Group): z.infer<typeof ShownPipeline> {
  const { id, fields, creator, creatorName, payer, payerName, createdMs, updatedMs } = row
  return {
    id,
    ...fields,
    created_by: {
      id: `user_${creator.slice(0, 16)}`,
      email: '',
      display_name: creatorName,
      full_name: creatorName,
    },
    charged_to: { id: `user_${payer.slice(0, 16)}`, display_name: payerName },
    group,
    created_at: isoTime(createdMs),
    updated_at: isoTime(updatedMs),
  }
}

export const NEW_EXAMPLE = {
  name: 'fills of two wallets',
  topic: 'fills',
  filter: { type: 'userFills', users: [`0x${'1a'.repeat(20)}`, `0x${'2b'.repeat(20)}`] },
  destination_config: {
    type: 'clickhouse',
    url: 'https://example.com:8443',
    user: 'weir',
    password: 'a password',
    database: 'default',
    table: 'fills',
  },
  transforms: { big: "SELECT * FROM fills WHERE sz > '10'" },
  execution_mode: 'bounded',
  execution_start_from: '2026-11-01T00:00:00Z',
  execution_stop_from: '',
}

const PIPELINE_EXAMPLE = {
  id: 'pipe_9fKxWq2TbNkRzd5mYvHs4u',
  project: '',
  description: '',
  destination_type: 'clickhouse',
  ...NEW_EXAMPLE,
  destination_config: { ...NEW_EXAMPLE.destination_config, password: '******' },
  abi_file: {},
  abi_contract_addresses: [],
  abi_unmatched: 'keep',
  on_failure: 'pause',
  status: 'running',
  created_by: { id: 'user_a1a1a1a1a1a1a1a1', email: '', display_name: 'manager', full_name: 'manager' },
  charged_to: { id: 'user_a1a1a1a1a1a1a1a1', display_name: 'manager' },
  group: {
    id: 'group_acme',
    name: 'acme',
    slug: 'acme',
    is_paid: true,
    is_over_limit: false,
    is_free_trial_expired: false,
  },
  created_at: '2026-11-24T09:30:00.000Z',
  updated_at: '2026-11-24T09:30:00.000Z',
}

/** The answer that is a pipeline. */
export const pipelineAnswer = (description: string) => ({
  description,
  schema: enveloped(ShownPipeline),
  example: inEnvelope(PIPELINE_EXAMPLE),
})

export const PAGE_EXAMPLE = inEnvelope({
  items: [PIPELINE_EXAMPLE],
  pagination: { page_number: 0, page_size: 10, total_count: 1, has_more: false },
})
