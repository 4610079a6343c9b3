// Endpoints to create, change and delete pipelines.

import * as z from 'zod'
import { formatCredits } from '../../../core/amount.ts'
import { AccountId, KeyHash } from '../../../core/ids.ts'
import { err, type Result } from '../../../core/result.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { remainingOf } from '../../../metering/account-state.ts'
import { NewPipeline, PipelineChange } from '../../../pipelines/changes.ts'
import { DEFAULTS, DestinationView, PIPELINE_FIELDS } from '../../../pipelines/pipeline.ts'
import { destinationOptions, TOPIC_GROUPS, topicOptions } from '../../../pipelines/pipeline-options.ts'
import type { PipelineRow } from '../../../pipelines/pipeline-row.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, CreditsText, Limit, Next, pageOf, UnixMs, withoutNumber } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'

export const PIPELINES_PATH = '/platform/pipeline-api/'
export const PIPELINE_PATH = `${PIPELINES_PATH}{id}/` as const
export const PIPELINE_PARAMS = { id: z.string().describe('Id of the pipeline, `pipe_…`') }
/** Maximum body size; leaves room for transforms. */
export const PIPELINE_BODY_BYTES = 1_048_576

export const IsoTime = z.string().describe('ISO 8601')

export function isoTime<Ms extends number | null>(ms: Ms): Ms extends null ? null : string
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

const Creator = z.object({
  id: z.string().describe('Id of the service key that created the pipeline: `user_` and the start of its hash'),
  email: z.string().describe('E-mail address; always empty, because keys have none'),
  display_name: z.string().describe('Label of that key when the pipeline was created'),
  full_name: z.string().describe('Same as `display_name`'),
})

const ChargedTo = z.object({
  id: z.string().describe('Id of the service key: `user_` and the start of its hash'),
  display_name: z.string().describe('Label of that key when the pipeline was charged to it'),
})

const Group = z.object({
  id: z.string().describe('Id of the group: `group_` and the account name'),
  name: z.string().describe('Account name'),
  slug: z.string().describe('Account name in lower case'),
  is_paid: z.boolean().describe('Whether the plan grants credits every month'),
  is_over_limit: z.boolean().describe('Whether the account has no credits left'),
  is_free_trial_expired: z.boolean().describe('Whether the account’s one-time plan has ended'),
})
type Group = z.infer<typeof Group>

const PipelineView = z
  .object({
    id: z.string().describe('Pipeline id, `pipe_…`'),
    ...PIPELINE_FIELDS,
    destination_config: DestinationView.describe('Destination; secrets are shown as `******`'),
    created_by: Creator.describe('Creator'),
    charged_to: ChargedTo.describe(
      'Key that pays for the rows: the last key that started the pipeline, changed its output or adopted it. If the key ends, the pipeline is paused',
    ),
    group: Group.describe('Owning account'),
    created_at: IsoTime.describe('Creation time, ISO 8601'),
    updated_at: IsoTime.describe('Time of the last change of its settings, ISO 8601'),
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
    // A one-time plan that has ended has neither an end time nor credits.
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
  summary: 'List pipelines, newest first',
  auth: 'service',
  query: z.strictObject({
    page_number: wholeNumber(0, 1_000).default(0).describe('Page number, from 0; default 0'),
    page_size: wholeNumber(1, 50).default(10).describe('Pipelines per page, up to 50; default 10'),
  }),
  responses: okResponse(
    'A page of pipelines',
    z.object({
      items: z.array(PipelineView).describe('Pipelines, newest first'),
      pagination: z
        .object({
          page_number: z.int().describe('Page number, from 0'),
          page_size: z.int().describe('Maximum pipelines per page'),
          total_count: z.int().describe('Total number of pipelines'),
          has_more: z.boolean().describe('Whether there is a next page'),
        })
        .describe('Position of this page'),
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
    'Starts immediately unless `status` is `paused`. Only `name`, `topic` and `destination_config` are required. Each delivered row costs `row_credits` (see the status), 0.0001 credits by default. Each minute in which it runs costs `minute_credits`, 0.05 by default. The maximum body size is 1 MiB. An account can have at most 50 pipelines, with definitions of at most 8 MB in total (409).',
  auth: 'service',
  body: { schema: NewPipeline, optional: false, example: NEW_EXAMPLE, maxBytes: PIPELINE_BODY_BYTES },
  responses: createdResponse('The pipeline', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ body, identity }, platform) =>
    pipelineReply(201, await platform.pipelines.create(identity, body), platform),
})

const Option = z.object({
  name: z.string().describe('Field name'),
  kind: z.enum(['text', 'secret', 'choice', 'switch']).describe('`choice`: one of `options`; `switch`: a boolean'),
  description: z.string().describe('Description'),
  required: z.boolean().describe('Whether the field must be sent'),
  options: z.array(z.string()).nullable().describe('Allowed values; null: not a choice'),
})

const TopicOption = z.object({
  topic: PIPELINE_FIELDS.topic,
  group: z.enum(TOPIC_GROUPS).describe('Group of topics'),
  description: z.string().describe('Description'),
  filters: z
    .array(
      z.object({
        type: z.string().describe('The `type` of the filter'),
        example: z.looseObject({}).describe('Filter that is valid as it is'),
      }),
    )
    .describe('Filters of the topic'),
  filter_required: z.boolean().describe('Whether a pipeline of the topic needs a filter'),
  has_past: z.boolean().describe('Whether rows of past blocks are available'),
  columns: z.array(z.string()).describe('Columns of a row, before transforms'),
})

const pipelineOptions = defineEndpoint({
  id: 'pipelineOptions',
  route: `GET ${PIPELINES_PATH}options/`,
  summary: 'List topics, destinations and prices for new pipelines',
  auth: 'service',
  responses: okResponse(
    'The options',
    z.object({
      topics: z.array(TopicOption.meta({ id: 'PipelineTopic' })).describe('Topics, by group'),
      destinations: z
        .array(
          z.object({
            type: PIPELINE_FIELDS.destination_type.describe('Destination type'),
            fields: z.array(Option.meta({ id: 'DestinationField' })).describe('Fields of `destination_config`'),
          }),
        )
        .describe('Destinations'),
      row_credits: CreditsText.nullable().describe('Price of a row of up to 1 KiB; null: unknown'),
      minute_credits: CreditsText.nullable().describe('Price of a minute in which a pipeline runs; null: unknown'),
    }),
    {
      topics: topicOptions().slice(0, 1),
      destinations: destinationOptions().filter(({ type }) => type === 'postgres'),
      row_credits: '0.0001',
      minute_credits: '0.05',
    },
  ),
  handle: async ({ identity: { account } }, { pipelines }) => {
    const prices = await pipelines.prices(account)
    return reply(200, {
      topics: topicOptions(),
      destinations: destinationOptions(),
      row_credits: prices && formatCredits(prices.rowMicro),
      minute_credits: prices && formatCredits(prices.minuteMicro),
    })
  },
})

const showPipeline = defineEndpoint({
  id: 'showPipeline',
  route: `GET ${PIPELINE_PATH}`,
  summary: 'Show a pipeline, without its secrets',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The pipeline', PipelineView, PIPELINE_EXAMPLE),
  handle: async ({ params, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.show({ ...identity, ...params }), platform),
})

const setPipelineStatus = defineEndpoint({
  id: 'setPipelineStatus',
  route: `PUT ${PIPELINE_PATH}`,
  summary: 'Start or pause a pipeline',
  description:
    'Sets only `status`; other fields of the body are ignored. Idempotent. A pause takes effect after the current batch. If you get a 503, retry: the status is saved, but the pipeline’s worker does not have it yet.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  body: {
    schema: z.object({ status: PIPELINE_FIELDS.status }),
    optional: false,
    example: { status: 'paused' },
    maxBytes: PIPELINE_BODY_BYTES,
  },
  responses: okResponse('The updated pipeline', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ params, body: { status }, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.change({ ...identity, ...params }, { status }), platform),
})

const changePipeline = defineEndpoint({
  id: 'changePipeline',
  route: `PATCH ${PIPELINE_PATH}`,
  summary: 'Change a pipeline; sent fields replace old values, absent fields stay unchanged',
  description:
    'You can send back a pipeline exactly as you read it: `******` keeps the secret if destination type, scheme, host and port are unchanged. `id`, `topic` and generated fields cannot be changed. Retry after a 503.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  body: {
    schema: PipelineChange,
    optional: false,
    example: { name: 'large fills', transforms: { large: 'SELECT * FROM fills' } },
    maxBytes: PIPELINE_BODY_BYTES,
  },
  responses: okResponse('The updated pipeline', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ params, body, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.change({ ...identity, ...params }, body), platform),
})

const removePipeline = defineEndpoint({
  id: 'removePipeline',
  route: `DELETE ${PIPELINE_PATH}`,
  summary: 'Delete a pipeline and its data',
  description: 'Delivered rows stay at the destination. If you get a 503, retry until you get 200 or 404.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The deleted pipeline', z.object({ id: PIPELINE_PARAMS.id })),
  handle: async ({ params, identity }, { pipelines }) => {
    const removed = await pipelines.remove({ ...identity, ...params })
    return removed.ok ? reply(200, params) : removed
  },
})

const adoptPipeline = defineEndpoint({
  id: 'adoptPipeline',
  route: `POST ${PIPELINE_PATH}adopt/`,
  summary: 'Charge a pipeline to the calling key, starting now',
  description:
    'The pipeline then depends on this key instead of the previous one. If it was paused because the previous key was revoked or expired, it resumes. Idempotent.',
  auth: 'service',
  params: PIPELINE_PARAMS,
  responses: okResponse('The updated pipeline', PipelineView, PIPELINE_EXAMPLE),
  refusals: [409],
  handle: async ({ params, identity }, platform) =>
    pipelineReply(200, await platform.pipelines.adopt({ ...identity, ...params }), platform),
})

const AdminPipelineView = z
  .object({
    id: z.string().describe('Pipeline id, `pipe_…`'),
    account: AccountId,
    name: z.string().describe('Pipeline name'),
    topic: z.string().describe('Topic'),
    destination: z.string().describe('Destination type'),
    status: z.string().describe('Desired status set by the owner'),
    backfill_of: z.string().nullable().describe('The pipeline that this one is a backfill of; null: it is none'),
    created: UnixMs.describe('Creation time, Unix milliseconds'),
    updated: UnixMs.describe('Time of the last change of its settings, Unix milliseconds'),
  })
  .meta({ id: 'PipelineOfAccount' })

const allPipelines = defineEndpoint({
  id: 'allPipelines',
  route: 'GET /admin/pipelines',
  summary: 'List pipelines of all accounts, newest first',
  query: z.strictObject({
    account: AccountId.optional().describe('Only pipelines of this account'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of pipelines',
    z.object({ pipelines: z.array(AdminPipelineView).describe('Pipelines, newest first'), next: Next }),
    { pipelines: [{ destination: 'clickhouse', status: 'running' }] },
  ),
  handle: async ({ query: { account, before, limit } }, platform) => {
    const select = `SELECT rowid AS number, id, account, fields ->> 'name' AS name, fields ->> 'topic' AS topic,
      fields ->> 'destination_type' AS destination, fields ->> 'status' AS status, backfill_of, created, updated
      FROM pipelines
      WHERE removed IS NULL AND (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
    const Row = AdminPipelineView.extend({ number: z.int() })
    const { rows, next } = pageOf(await platform.rows(Row, select, account, before, limit + 1), limit)
    return reply(200, { pipelines: rows.map(withoutNumber), next })
  },
})

const setStatusAsOperator = defineEndpoint({
  id: 'setStatusAsOperator',
  route: 'PUT /admin/pipelines/{id}',
  summary: 'Start or pause a pipeline of any account',
  description:
    'Its owner may change the status again. Idempotent. A pause takes effect after the current batch. If you get a 503, retry.',
  role: 'owner',
  params: PIPELINE_PARAMS,
  body: { schema: z.strictObject({ status: PIPELINE_FIELDS.status }), optional: false, example: { status: 'paused' } },
  responses: okResponse(
    'The status',
    z.object({ id: PIPELINE_PARAMS.id, status: PIPELINE_FIELDS.status.describe('Desired status') }),
  ),
  refusals: [409],
  handle: async ({ params: { id }, body: { status } }, platform) => {
    const Row = z.object({ account: AccountId, payer: KeyHash })
    const [row] = await platform.rows(Row, 'SELECT account, payer FROM pipelines WHERE id = ?1', id)
    if (row === undefined) return err({ kind: 'not_found', what: 'This pipeline' })
    const changed = await platform.pipelines.change({ account: row.account, id, keyHash: row.payer }, { status })
    return changed.ok ? reply(200, { id, status }) : changed
  },
})

export const PIPELINES = [
  listPipelines,
  createPipeline,
  // Before the path with an id, which would match too.
  pipelineOptions,
  showPipeline,
  setPipelineStatus,
  changePipeline,
  removePipeline,
  adoptPipeline,
  allPipelines,
  setStatusAsOperator,
]
