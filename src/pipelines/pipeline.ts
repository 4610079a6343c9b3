// A pipeline: which rows go where. What its record keeps, what its owner may write and what its Sink object is told are
// made of the same fields. Pure; what may follow what is in changes.ts, what is secret in secrets.ts.

import * as z from 'zod'
import type { Issue } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'

export const TOPICS = [
  'fills',
  'ledger',
  'book_diffs',
  'order_updates',
  'completed_trades',
  'candles',
  'evm_logs',
] as const
export type Topic = (typeof TOPICS)[number]

/** Channels of whose subscriptions one may be the filter of a topic. */
export const FILTERS: Readonly<Record<Topic, readonly string[]>> = {
  fills: ['userFills', 'allFills', 'builderFills', 'liquidationFills', 'builderLiquidations'],
  ledger: ['userNonFundingLedgerUpdates'],
  book_diffs: ['l2BookDiff', 'l2BookDiff2'],
  order_updates: ['orderUpdates'],
  completed_trades: ['userFills'],
  candles: ['candle'],
  evm_logs: ['evmLogs'],
}

export const STATUSES = ['running', 'paused'] as const
const MAX_TRANSFORMS = 16
/** UTF-16 units of one. */
const MAX_TRANSFORM_CHARS = 65_536
const TRANSFORM_NAME = /^[A-Za-z]\w{0,62}$/
const MAX_ADDRESSES = 1_000
/** A row of D1 has room for all of these at once, were every character of three bytes. */
const MAX_FILTER_CHARS = 65_536
const MAX_ABI_CHARS = 196_608

const text = (most: number) => z.string().max(most, `must be at most ${most} characters`)
const line = (most: number) => text(most).regex(/^\P{Cc}*$/u, 'must hold no control characters')
const matching = (pattern: RegExp, words: string) => z.string().regex(pattern, words)

const SECRET_NAME =
  /(?:^|[_-])(?:password|passwd|pwd|token|secret|api[_-]?key|auth|authorization|credentials?|signature|sig)$/i
const charOf = (_: string, code: string) => String.fromCharCode(Number.parseInt(code, 16))
const hasSecretParameter = (url: string) => {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? []
  const names = query.split('&').map((pair) => pair.replace(/=.*/s, '').replace(/%([0-9a-f]{2})/gi, charOf))
  return names.some((name) => SECRET_NAME.test(name))
}

/** An address without credentials, which have fields of their own. It is not repeated in what refuses it. */
function urlField(schemes: string, example: string) {
  const words = `must be an address such as ${example}`
  return z
    .string()
    .max(2_048, { error: 'must be at most 2048 characters', abort: true })
    .refine((url) => !/^[a-z]*:?[/\\]*[^/?#\\]*@/i.test(url), {
      error: 'must hold no user name or password',
      abort: true,
    })
    .refine(
      (url) => !hasSecretParameter(url),
      'must hold no secret such as "password" or "token" in its query, which would be shown: "password" is the field for one, ' +
        'and "secret" signs what a webhook gets',
    )
    .regex(new RegExp(`^(?:${schemes})://[^\\s/?#\\\\@]+(?:[/?#][^\\s\\\\]*)?$`, 'i'), { error: words, abort: true })
    .pipe(z.url(words))
}

const Secret = line(1_024).describe('Secret: read back as `******`, which keeps it when it is sent')
const User = line(256).describe('User name')
const Table = (words: string) =>
  matching(/^[A-Za-z_]\w{0,62}(?:\.[A-Za-z_]\w{0,62})?$/, 'must be a name of letters, digits and "_"').describe(words)
const CreateTable = z
  .boolean()
  .optional()
  .describe('Create the table where it is missing, and columns of the rows that it lacks; false unless said')
const Format = z.enum(['parquet', 'ndjson']).describe('What an object holds')
const Prefix = z
  .string()
  .regex(
    /^(?!\/)(?!.*(?:^|\/)\.{0,2}\/)[\w!.*'()/=+-]{0,512}$/,
    'must be at most 512 letters, digits and !_.*\'()/=+-, no "/" first or twice and no "." or ".." between them',
  )
  .describe('Names of objects begin with it, such as `fills/`')

const type = <const Type extends string>(of: Type) => z.literal(of).describe('Kind of destination')

const SHAPES = {
  webhook: {
    type: type('webhook'),
    url: urlField('https?', 'https://example.com/hooks/weir').describe('Where batches are posted'),
    secret: matching(
      /^(?:\*{6}|whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/,
      'must be "whsec_" and the base64 of 24 to 64 bytes, such as `openssl rand -base64 32` makes',
    ).describe('Signs batches as Standard Webhooks has it: read back as `******`, which keeps it when it is sent'),
  },
  r2: { type: type('r2'), prefix: Prefix, format: Format },
  s3: {
    type: type('s3'),
    url: urlField('https?', 'https://s3.eu-central-1.amazonaws.com').describe('Endpoint, without the bucket'),
    bucket: matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket').describe(
      'Name of the bucket',
    ),
    region: matching(/^[a-z0-9-]{1,64}$/, 'must be a region such as eu-central-1, or auto').describe(
      'Region to sign for',
    ),
    prefix: Prefix,
    format: Format,
    access_key_id: matching(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 printable characters').describe('Id of the key'),
    secret_access_key: Secret.min(1),
  },
  clickhouse: {
    type: type('clickhouse'),
    url: urlField('https?', 'https://example.com:8443').describe('Its HTTP interface'),
    user: User,
    password: Secret,
    database: Table('Database'),
    table: Table('Table, with a column for each field of the rows'),
    create_table: CreateTable,
  },
  postgres: {
    type: type('postgres'),
    url: urlField('postgres(?:ql)?|hyperdrive', 'postgres://db.example.com:5432').describe(
      "The server, or `hyperdrive://NAME` for one of the operator's, which goes without user, password and database",
    ),
    user: User.optional(),
    password: Secret.optional(),
    database: line(63).min(1).describe('Database').optional(),
    table: Table('Table, with a column for each field of the rows'),
    create_table: CreateTable,
  },
  kafka: {
    type: type('kafka'),
    url: urlField('https?', 'https://kafka-rest.example.com').describe('An HTTP bridge: Confluent REST, v2'),
    topic: matching(/^[A-Za-z0-9._-]{1,249}$/, 'must be the name of a topic').describe('Topic of the cluster'),
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
/** The same as answers show it: they may gain fields. */
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
const Position = z
  .string()
  .refine(isPosition, 'must be empty, "earliest", "latest", a height, or a time such as 2026-11-24T00:00:00Z')

/** In UTF-16 units of JSON. */
const maxJsonChars = (most: number) =>
  [(value: unknown) => JSON.stringify(value).length <= most, `must be at most ${most} characters of JSON`] as const

/** What its owner writes. */
export const PIPELINE_FIELDS = {
  name: line(100).min(1).describe('Name for people'),
  project: line(100).describe('What it belongs to, for people'),
  description: text(2_000).describe('Text for people'),
  topic: z.enum(TOPICS).describe('What it reads'),
  filter: z
    .looseObject({ type: z.string().describe('Channel') })
    .refine(...maxJsonChars(MAX_FILTER_CHARS))
    .nullable()
    .describe(
      'A subscription, as sent over `/ws`, that chooses among the rows of the topic, or of `evm_logs` the chain; null: all of them',
    ),
  destination_type: z.enum(DESTINATION_TYPES).describe('The `type` of `destination_config`'),
  destination_config: DestinationConfig.describe('Where rows go'),
  transforms: z
    .record(z.string(), z.unknown())
    // Before anything is said of one: names are said back.
    .refine((all) => Object.keys(all).every((name) => TRANSFORM_NAME.test(name)), {
      error: 'must have names of letters, digits and "_", with a letter first, at most 63 of them',
      abort: true,
    })
    .refine((all) => Object.keys(all).length <= MAX_TRANSFORMS, {
      error: `must be at most ${MAX_TRANSFORMS}`,
      abort: true,
    })
    .pipe(z.record(z.string(), text(MAX_TRANSFORM_CHARS).regex(/\S/, 'must be a SELECT')))
    .describe('SQL `SELECT`s over each batch, by name'),
  execution_mode: z
    .enum(['bounded', 'continuous'])
    .describe('`bounded`: it ends at `execution_stop_from`; `continuous`: never'),
  execution_start_from: Position.describe(
    'Where it begins: empty or `latest`: now; `earliest`, a height, or an ISO 8601 time',
  ),
  execution_stop_from: Position.describe(
    'Where a bounded one ends, in the same words; empty: with the newest block that there is',
  ),
  abi_file: z
    .record(z.string(), z.unknown())
    .refine(...maxJsonChars(MAX_ABI_CHARS))
    .refine(({ abi }) => abi === undefined || Array.isArray(abi), { error: 'must be a list', path: ['abi'] })
    .describe('Of `evm_logs`: what a compiler wrote, with the ABI as `abi`'),
  abi_contract_addresses: z
    .array(matching(/^0x[0-9a-fA-F]{40}$/, 'must be "0x" and 40 hexadecimal digits'))
    .max(MAX_ADDRESSES)
    .describe('Of `evm_logs`: contracts whose logs it reads; none: all'),
  abi_unmatched: z
    .enum(['drop', 'keep', 'fail'])
    .describe('Of `evm_logs`: what becomes of a log that the ABI does not have'),
  on_failure: z
    .enum(['pause', 'dead_letter'])
    .describe('When a batch was tried to the end: stop there, or set it aside and go on'),
  status: z.enum(STATUSES).describe('What its owner wants of it'),
} as const
export const PipelineFields = z.object(PIPELINE_FIELDS)
export type PipelineFields = z.infer<typeof PipelineFields>

/** In place of what who creates one leaves out. */
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

/** A pipeline as its Sink object is told of it: secrets in clear. */
export const Pipeline = z.object({
  ...PIPELINE_FIELDS,
  id: z.string(),
  account: z.string(),
  /** Hash of the key that it is charged to, and under which its usage is recorded. */
  payer: KeyHash,
  /** What people call that key. */
  payer_name: z.string(),
  /** Grows with every change. Messages may overtake each other: what is no newer than what is known is nothing new. */
  revision: z.int().positive(),
  /** ISO 8601. */
  created_at: z.string(),
  updated_at: z.string(),
})
export type Pipeline = z.infer<typeof Pipeline>

/** As its object keeps it: `******` in place of the secret, which is sealed; null: there is none. */
export type StoredPipeline = Pipeline & { readonly sealed: string | null }

/** What the record wants is not to be had here: nothing but another record sets the pipeline going. */
export class FatalPipelineError extends Error {
  static of({ path, message }: Issue): FatalPipelineError {
    return new FatalPipelineError(`${path}: ${message}`)
  }
}
