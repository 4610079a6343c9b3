// Definition of a pipeline. Stored records, requests and the messages to the Sink object share these fields. Pure;
// transitions are in changes.ts, secrets in secrets.ts.

import * as z from 'zod'
import { inGroups } from '../core/digit-groups.ts'
import type { Issue } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'

export const TOPICS = [
  'fills',
  'ledger',
  'book_diffs',
  'order_updates',
  'oracle_updates',
  'writer_actions',
  'replica_cmds',
  'completed_trades',
  'candles',
  'evm_logs',
] as const
export type Topic = (typeof TOPICS)[number]

/** Topics whose rows feeders send only on request. A pipeline has to repeat its request every few seconds. */
export const REQUESTED_TOPICS: readonly Topic[] = ['order_updates', 'replica_cmds']

/** Types of the filters of a topic. Except for `replicaCmds` and `evmLogs`, they are subscriptions to channels. */
export const FILTERS: Readonly<Record<Topic, readonly string[]>> = {
  fills: ['userFills', 'allFills', 'builderFills', 'liquidationFills', 'builderLiquidations'],
  ledger: ['userNonFundingLedgerUpdates'],
  book_diffs: ['l2BookDiff', 'l2BookDiff2'],
  order_updates: ['orderUpdates'],
  oracle_updates: ['oracleUpdates'],
  writer_actions: ['writerActions'],
  replica_cmds: ['replicaCmds'],
  completed_trades: ['userFills'],
  candles: ['candle'],
  evm_logs: ['evmLogs'],
}

export const STATUSES = ['running', 'paused'] as const
const MAX_TRANSFORMS = 16
/** Maximum length of one transform, in UTF-16 units. */
const MAX_TRANSFORM_CHARS = 65_536
const TRANSFORM_NAME = /^[A-Za-z]\w{0,62}$/
const MAX_ADDRESSES = 1_000
/** With all of these limits reached, the record fits in a D1 row even if every character takes three bytes. */
const MAX_FILTER_CHARS = 65_536
const MAX_ABI_CHARS = 196_608

const text = (most: number) => z.string().max(most, `must be at most ${inGroups(most)} characters`)
const line = (most: number) => text(most).regex(/^\P{Cc}*$/u, 'must not contain control characters')
const matching = (pattern: RegExp, words: string) => z.string().regex(pattern, words)

const SECRET_NAME =
  /(?:^|[_-])(?:password|passwd|pwd|token|secret|api[_-]?key|auth|authorization|credentials?|signature|sig)$/i
const charOf = (_: string, code: string) => String.fromCharCode(Number.parseInt(code, 16))
const hasSecretParameter = (url: string) => {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? []
  const names = query.split('&').map((pair) => pair.replace(/=.*/s, '').replace(/%([0-9a-f]{2})/gi, charOf))
  return names.some((name) => SECRET_NAME.test(name))
}

/** A URL without credentials, which have their own fields. Errors do not repeat it. */
function urlField(schemes: string, example: string) {
  const words = `must be a URL such as ${example}`
  return z
    .string()
    .max(2_048, { error: 'must be at most 2,048 characters', abort: true })
    .refine((url) => !/^[a-z]*:?[/\\]*[^/?#\\]*@/i.test(url), {
      error: 'must not contain a user name or password',
      abort: true,
    })
    .refine(
      (url) => !hasSecretParameter(url),
      'must not contain a secret such as "password" or "token" in its query, because URLs are shown. Use the field "password"; ' +
        'webhooks are signed with "secret"',
    )
    .regex(new RegExp(`^(?:${schemes})://[^\\s/?#\\\\@]+(?:[/?#][^\\s\\\\]*)?$`, 'i'), { error: words, abort: true })
    .pipe(z.url(words))
}

const Secret = line(1_024).describe('Secret. Returned as `******`; send `******` to keep the stored secret')
const User = line(256).describe('User name')
const Table = (words: string) =>
  matching(/^[A-Za-z_]\w{0,62}(?:\.[A-Za-z_]\w{0,62})?$/, 'must consist of letters, digits and "_"').describe(words)
const CreateTable = z
  .boolean()
  .optional()
  .describe('Whether to create the table and its columns if they are missing. Default: false')
const Format = z.enum(['parquet', 'ndjson']).describe('File format')
const Prefix = z
  .string()
  .regex(
    /^(?!\/)(?!.*(?:^|\/)\.{0,2}\/)[\w!.*'()/=+-]{0,512}$/,
    'must be at most 512 letters, digits or !_.*\'()/=+-, must not start with "/" and must not contain "//", "/./" or "/../"',
  )
  .describe('Prefix of object names, such as `fills/`')

const type = <const Type extends string>(of: Type) => z.literal(of).describe('Destination type')

const SHAPES = {
  webhook: {
    type: type('webhook'),
    url: urlField('https?', 'https://example.com/hooks/weir').describe('URL that receives batches by POST'),
    secret: matching(
      /^(?:\*{6}|whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/,
      'must be "whsec_" followed by 24 to 64 bytes in base64, for example from `openssl rand -base64 32`',
    ).describe('Signing secret (Standard Webhooks). Returned as `******`; send `******` to keep the stored secret'),
  },
  r2: { type: type('r2'), prefix: Prefix, format: Format },
  s3: {
    type: type('s3'),
    url: urlField('https?', 'https://s3.eu-central-1.amazonaws.com').describe('Endpoint without the bucket'),
    bucket: matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be a bucket name').describe('Bucket name'),
    region: matching(/^[a-z0-9-]{1,64}$/, 'must be a region such as eu-central-1, or auto').describe(
      'Region used for signing',
    ),
    prefix: Prefix,
    format: Format,
    access_key_id: matching(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 printable characters').describe('Access key ID'),
    secret_access_key: Secret.min(1),
  },
  clickhouse: {
    type: type('clickhouse'),
    url: urlField('https?', 'https://example.com:8443').describe('URL of the HTTP interface'),
    user: User,
    password: Secret,
    database: Table('Database name'),
    table: Table('Table with a column for each row field'),
    create_table: CreateTable,
  },
  postgres: {
    type: type('postgres'),
    url: urlField('postgres(?:ql)?|hyperdrive', 'postgres://db.example.com:5432').describe(
      'Server URL, or `hyperdrive://NAME` for a Hyperdrive of the operator (without user, password and database)',
    ),
    user: User.optional(),
    password: Secret.optional(),
    database: line(63).min(1).describe('Database name').optional(),
    table: Table('Table with a column for each row field'),
    create_table: CreateTable,
  },
  kafka: {
    type: type('kafka'),
    url: urlField('https?', 'https://kafka-rest.example.com').describe(
      'URL of a Kafka REST bridge (Confluent REST v2)',
    ),
    topic: matching(/^[A-Za-z0-9._-]{1,249}$/, 'must be a topic name').describe('Kafka topic'),
    user: User.optional(),
    password: Secret.optional(),
  },
} as const

export const DestinationConfig = z
  .discriminatedUnion('type', [
    z.strictObject(SHAPES.webhook),
    z.strictObject(SHAPES.r2),
    z.strictObject(SHAPES.s3),
    z.strictObject(SHAPES.clickhouse),
    z.strictObject(SHAPES.postgres),
    z.strictObject(SHAPES.kafka),
  ])
  .meta({ id: 'DestinationConfig' })
export type DestinationConfig = z.infer<typeof DestinationConfig>
/** Destinations in responses, which may gain fields. */
export const DestinationView = z
  .discriminatedUnion('type', [
    z.object(SHAPES.webhook),
    z.object(SHAPES.r2),
    z.object(SHAPES.s3),
    z.object(SHAPES.clickhouse),
    z.object(SHAPES.postgres),
    z.object(SHAPES.kafka),
  ])
  .meta({ id: 'ShownDestination' })
const DESTINATION_TYPES = ['webhook', 'r2', 's3', 'clickhouse', 'postgres', 'kafka'] as const

const HEIGHT = /^(?:0|[1-9]\d{0,14})$/
const isPosition = (place: string) =>
  /^(?:|earliest|latest)$/.test(place) ||
  HEIGHT.test(place) ||
  (place.length < 40 && z.iso.datetime({ offset: true }).safeParse(place).success)
export const Position = z
  .string()
  .refine(isPosition, 'must be empty, "earliest", "latest", a height, or a time such as 2026-11-24T00:00:00Z')

/** Limit in UTF-16 units of JSON. */
const maxJsonChars = (most: number) =>
  [
    (value: unknown) => JSON.stringify(value).length <= most,
    `must be at most ${inGroups(most)} characters of JSON`,
  ] as const

/** Fields that the owner sets. */
export const PIPELINE_FIELDS = {
  name: line(100).min(1).describe('Display name'),
  project: line(100).describe('Project name'),
  description: text(2_000).describe('Description'),
  topic: z.enum(TOPICS).describe('Topic to read'),
  filter: z
    .looseObject({ type: z.string().describe('Channel name') })
    .refine(...maxJsonChars(MAX_FILTER_CHARS))
    .nullable()
    .describe(
      'Subscription, as sent over `/ws`, that selects rows of the topic; for `evm_logs`, the chain. Null: all rows',
    ),
  destination_type: z.enum(DESTINATION_TYPES).describe('The `type` of `destination_config`'),
  destination_config: DestinationConfig.describe('Destination of the rows'),
  transforms: z
    .record(z.string(), z.unknown())
    // Names are checked first, because later errors repeat them.
    .refine((all) => Object.keys(all).every((name) => TRANSFORM_NAME.test(name)), {
      error: 'must have names of at most 63 letters, digits and "_" that start with a letter',
      abort: true,
    })
    .refine((all) => Object.keys(all).length <= MAX_TRANSFORMS, {
      error: `must have at most ${MAX_TRANSFORMS} entries`,
      abort: true,
    })
    .pipe(z.record(z.string(), text(MAX_TRANSFORM_CHARS).regex(/\S/, 'must be a SELECT')))
    .describe('SQL `SELECT` statements applied to each batch, by name'),
  execution_mode: z
    .enum(['bounded', 'continuous'])
    .describe('`bounded`: ends at `execution_stop_from`; `continuous`: never ends'),
  execution_start_from: Position.describe(
    'Start position: `latest` (or empty), `earliest`, a height, or an ISO 8601 time',
  ),
  execution_stop_from: Position.describe(
    'End position of a bounded pipeline, in the same format. Empty: the newest block',
  ),
  abi_file: z
    .record(z.string(), z.unknown())
    .refine(...maxJsonChars(MAX_ABI_CHARS))
    .refine(({ abi }) => abi === undefined || Array.isArray(abi), { error: 'must be an array', path: ['abi'] })
    .describe('Compiler output with the ABI as `abi`; for `evm_logs`'),
  abi_contract_addresses: z
    .array(matching(/^0x[0-9a-fA-F]{40}$/, 'must be "0x" followed by 40 hexadecimal digits'))
    .max(MAX_ADDRESSES)
    .describe('Addresses of the contracts to read; empty: all. For `evm_logs`'),
  abi_unmatched: z
    .enum(['drop', 'keep', 'fail'])
    .describe('Handling of logs that the ABI does not contain; for `evm_logs`'),
  on_failure: z
    .enum(['pause', 'dead_letter'])
    .describe('Action after the last failed attempt of a batch: `pause`, or store a `dead_letter` and continue'),
  status: z.enum(STATUSES).describe('Desired status'),
} as const
export const PipelineFields = z.object(PIPELINE_FIELDS)
export type PipelineFields = z.infer<typeof PipelineFields>

/** Whether the same heights mean blocks of another chain. Only `evm_logs` have a choice, which is their filter. */
export const isOtherChain = (
  { filter }: Pick<PipelineFields, 'filter'>,
  other: Pick<PipelineFields, 'topic' | 'filter'>,
): boolean => other.topic === 'evm_logs' && JSON.stringify(filter) !== JSON.stringify(other.filter)

/** Defaults for fields that a new pipeline omits. */
export const DEFAULTS = {
  project: '',
  description: '',
  filter: null,
  transforms: {},
  execution_mode: 'continuous',
  execution_start_from: '',
  execution_stop_from: '',
  abi_file: {},
  abi_contract_addresses: [],
  abi_unmatched: 'keep',
  on_failure: 'pause',
  status: 'running',
} as const satisfies Partial<PipelineFields>

/** A pipeline as sent to its Sink object, with unencrypted secrets. */
export const Pipeline = z.object({
  ...PIPELINE_FIELDS,
  id: z.string(),
  account: z.string(),
  /** Hash of the key that pays, under which usage is recorded. */
  payer: KeyHash,
  /** Display name of that key. */
  payer_name: z.string(),
  /** Grows with every change. Messages may arrive out of order: a revision that is not newer is ignored. */
  revision: z.int().positive(),
  /** ISO 8601. */
  created_at: z.string(),
  updated_at: z.string(),
})
export type Pipeline = z.infer<typeof Pipeline>

/** A pipeline as its Sink stores it: the secret is masked and encrypted in `sealed`; null: no secret. */
export type StoredPipeline = Pipeline & { readonly sealed: string | null }

/** The pipeline cannot run until its configuration changes. */
export class FatalPipelineError extends Error {
  static of({ path, message }: Issue): FatalPipelineError {
    return new FatalPipelineError(`${path}: ${message}`)
  }
}
