// Pipelines as their owner makes, changes and removes them.

import * as z from 'zod'
import { AccountId } from '../../../core/ids.ts'
import type { Result } from '../../../core/result.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { remainingOf } from '../../../metering/account-state.ts'
import { NewPipeline, PipelineChange } from '../../../pipelines/changes.ts'
import { DEFAULTS, DestinationView, PIPELINE_FIELDS } from '../../../pipelines/pipeline.ts'
import type { PipelineRow } from '../../../pipelines/pipeline-row.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, pageOf, UnixMs, withoutNumber } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'

const PIPELINES_PATH = '/platform/pipeline-api/'
export const PIPELINE_PATH = `${PIPELINES_PATH}{id}/` as const
export const PIPELINE_PARAMS = { id: z.string().describe('Id of the pipeline, `pipe_…`') }
/** Room for transforms. */
export const PIPELINE_BODY_BYTES = 1_048_576

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

const PipelineView = z
  .object({
    id: z.string().describe('`pipe_…`'),
    ...PIPELINE_FIELDS,
    destination_config: DestinationView.describe('Where rows go, `******` in place of a secret'),
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

async function groupOf(account: AccountId, { meterOf }: Pick<Platform, 'meterOf'>): Promise<Group> {
  const meter = meterOf(account)
  const [plan, sums] = await Promise.all([meter.plan(), meter.balance()])
  const isPaid = plan?.renews ?? false
  return {
    id: `group_${account}`,
    name: account,
    slug: account.toLowerCase(),
    is_paid: isPaid,
    is_over_limit: remainingOf(sums) <= 0,
    // A plan that gave credits once has no end any more, and none of its credits, when it has ended.
    is_free_trial_expired: plan !== null && !isPaid && plan.untilMs === null && plan.micro === 0,
  }
}

function pipelineView(row: PipelineRow, group: Group): z.infer<typeof PipelineView> {
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

const NEW_EXAMPLE = {
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

const USER_EXAMPLE = { id: 'user_a1a1a1a1a1a1a1a1', email: '', display_name: 'manager', full_name: 'manager' }
const PIPELINE_EXAMPLE = {
  ...DEFAULTS,
  ...NEW_EXAMPLE,
  destination_type: 'clickhouse',
  destination_config: { ...NEW_EXAMPLE.destination_config, password: '******' },
  created_by: USER_EXAMPLE,
  charged_to: { id: USER_EXAMPLE.id, display_name: USER_EXAMPLE.display_name },
  group: { id: 'group_acme', name: 'acme', slug: 'acme', is_paid: true },
  created_at: '2026-11-24T09:30:00.000Z',
  updated_at: '2026-11-24T09:30:00.000Z',
}

async function pipelineReply<Status extends number>(
  status: Status,
  row: Result<PipelineRow, Refusal>,
  platform: Pick<Platform, 'meterOf'>,
) {
  return row.ok ? reply(status, pipelineView(row.value, await groupOf(row.value.account, platform))) : row
}

const listPipelines = defineEndpoint({
  id: 'listPipelines',
  route: `GET ${PIPELINES_PATH}`,
  summary: 'The account’s pipelines, newest first',
  auth: 'service',
  query: z.strictObject({
    page_number: wholeNumber(0, 1_000).default(0).describe('From 0 on; 0 unless said'),
    page_size: wholeNumber(1, 50).default(10).describe('At most so many, up to 50; 10 unless said'),
  }),
  responses: okResponse(
    'A page of pipelines',
    z.object({
      items: z.array(PipelineView).describe('Newest first'),
      pagination: z
        .object({
          page_number: z.int().describe('From 0 on'),
          page_size: z.int().describe('Pipelines of a page at most'),
          total_count: z.int().describe('Pipelines of the account'),
          has_more: z.boolean().describe('There is a next page'),
        })
        .describe('Which page this is'),
    }),
    { items: [PIPELINE_EXAMPLE], pagination: { page_number: 0, page_size: 10, total_count: 1 } },
  ),
  handle: async ({ query: { page_number: page, page_size: size }, identity }, platform) => {
    const [{ rows, total }, group] = await Promise.all([
      platform.pipelines.page(identity, page * size, size),
      groupOf(identity.account, platform),
    ])
    const pagination = { page_number: page, page_size: size, total_count: total, has_more: (page + 1) * size < total }
    return reply(200, { items: rows.map((row) => pipelineView(row, group)), pagination })
  },
})

const createPipeline = defineEndpoint({
  id: 'createPipeline',
  route: `POST ${PIPELINES_PATH}`,
  summary: 'Create a pipeline',
  description:
    'It runs at once unless `status` is `paused`. Only `name`, `topic` and `destination_config` are required. ' +
    'Rows that arrive cost what `row_credits` of its status says, 0.0001 credits unless the operator says otherwise. ' +
    'The body has at most 1 MiB; an account has at most 50 pipelines and 8 MB of them (409).',
  auth: 'service',
  body: { schema: NewPipeline, optional: false, example: NEW_EXAMPLE, maxBytes: PIPELINE_BODY_BYTES },
  responses: createdResponse('The pipeline', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ body, identity }, platform) =>
    pipelineReply(201, await platform.pipelines.create(identity, body), platform),
})

const showPipeline = defineEndpoint({
  id: 'showPipeline',
  route: `GET ${PIPELINE_PATH}`,
  summary: 'A pipeline, without its secret',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The pipeline', PipelineView, PIPELINE_EXAMPLE),
  handle: async ({ params, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.show({ ...identity, ...params }), platform),
})

const setPipelineStatus = defineEndpoint({
  id: 'setPipelineStatus',
  route: `PUT ${PIPELINE_PATH}`,
  summary: 'Run or pause a pipeline',
  description:
    'Sets `status` alone: any other field of the body is ignored. Again is the same. A pause takes effect after the ' +
    'batch that is on its way. A 503 is to be sent again: the record has the status, and what runs the pipeline does ' +
    'not know it yet.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  body: {
    schema: z.object({ status: PIPELINE_FIELDS.status }),
    optional: false,
    example: { status: 'paused' },
    maxBytes: PIPELINE_BODY_BYTES,
  },
  responses: okResponse('The pipeline as it is now', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ params, body: { status }, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.change({ ...identity, ...params }, { status }), platform),
})

const changePipeline = defineEndpoint({
  id: 'changePipeline',
  route: `PATCH ${PIPELINE_PATH}`,
  summary: 'Change a pipeline; what is left out stays, what is sent is taken whole',
  description:
    'What was read may be sent back: `******` keeps the secret, as long as it goes to the same kind, scheme, host and ' +
    'port. `id`, `topic` and what the gateway writes cannot be changed. A 503 is to be sent again.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  body: {
    schema: PipelineChange,
    optional: false,
    example: { name: 'large fills', transforms: { large: 'SELECT * FROM fills' } },
    maxBytes: PIPELINE_BODY_BYTES,
  },
  responses: okResponse('The pipeline as it is now', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ params, body, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.change({ ...identity, ...params }, body), platform),
})

const removePipeline = defineEndpoint({
  id: 'removePipeline',
  route: `DELETE ${PIPELINE_PATH}`,
  summary: 'Delete a pipeline and all that is kept of it',
  description: 'What was delivered stays where it is. A 503 is to be sent again until there is a 200, or a 404.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('It is gone', z.object({ id: PIPELINE_PARAMS.id })),
  handle: async ({ params, identity }, { pipelines }) => {
    const removed = await pipelines.remove({ ...identity, ...params })
    return removed.ok ? reply(200, params) : removed
  },
})

const adoptPipeline = defineEndpoint({
  id: 'adoptPipeline',
  route: `POST ${PIPELINE_PATH}adopt/`,
  summary: 'Charge a pipeline to the key that asks, from now on',
  description:
    'The pipeline then ends with this key and no longer with the one that it was charged to before. One that was paused because ' +
    'that key was revoked or expired goes on. Again is the same.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The pipeline as it is now', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ params, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.adopt({ ...identity, ...params }), platform),
})

const AdminPipelineView = z
  .object({
    id: z.string().describe('`pipe_…`'),
    account: AccountId,
    name: z.string().describe('As its owner called it'),
    topic: z.string().describe('What it reads'),
    destination: z.string().describe('Where rows go: the type of its destination'),
    status: z.string().describe('What its owner wants of it'),
    created: UnixMs.describe('When it was made, Unix milliseconds'),
    updated: UnixMs.describe('When what its owner wants was last changed, Unix milliseconds'),
  })
  .meta({ id: 'PipelineOfAccount' })

const allPipelines = defineEndpoint({
  id: 'allPipelines',
  route: 'GET /admin/pipelines',
  summary: 'Pipelines of all accounts, newest first',
  query: z.strictObject({
    account: AccountId.optional().describe('Of this account alone'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of pipelines',
    z.object({ pipelines: z.array(AdminPipelineView).describe('Newest first'), next: Next }),
    { pipelines: [{ destination: 'clickhouse', status: 'running' }] },
  ),
  handle: async ({ query: { account, before, limit } }, platform) => {
    const select = `SELECT rowid AS number, id, account, fields ->> 'name' AS name, fields ->> 'topic' AS topic,
      fields ->> 'destination_type' AS destination, fields ->> 'status' AS status, created, updated FROM pipelines
      WHERE removed IS NULL AND (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
    const Row = AdminPipelineView.extend({ number: z.int() })
    const { rows, next } = pageOf(await platform.rows(Row, select, account, before, limit + 1), limit)
    return reply(200, { pipelines: rows.map(withoutNumber), next })
  },
})

export const PIPELINES = [
  listPipelines,
  createPipeline,
  showPipeline,
  setPipelineStatus,
  changePipeline,
  removePipeline,
  adoptPipeline,
  allPipelines,
]
