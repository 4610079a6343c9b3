// The form of a pipeline: from a stored pipeline, and to the body of a request. Pure. Invariant: a draft has no secret.

import type { Responses } from '../responses.ts'

type Options = Responses['pipelineOptions']
type Pipeline = Responses['showPipeline']
export type TopicOption = Options['topics'][number]
export type Destination = Options['destinations'][number]
export type DestinationField = Destination['fields'][number]

export const STEPS = ['topic', 'rows', 'destination', 'test'] as const
export type Step = (typeof STEPS)[number]

/**
 * Texts of inputs. `filter`, `abi`: JSON, or empty. `start`, `stop`: positions as the API writes them, but an empty `stop`
 * is never, and `newest` is the newest block.
 */
export interface Draft {
  /** Null until the pipeline is stored. */
  readonly id: string | null
  readonly name: string
  readonly topic: string
  readonly filter: string
  readonly sql: readonly { readonly name: string; readonly text: string }[]
  readonly abi: string
  readonly contracts: string
  readonly unmatched: string
  readonly type: string
  /** Texts by field of the destination, without the secret. */
  readonly config: Readonly<Record<string, string>>
  /** Whether a secret is stored for this destination. */
  readonly hasSecret: boolean
  readonly start: string
  readonly stop: string
  readonly onFailure: string
}

export const EMPTY_DRAFT: Draft = {
  id: null,
  name: '',
  topic: '',
  filter: '',
  sql: [],
  abi: '',
  contracts: '',
  unmatched: 'keep',
  type: 'webhook',
  config: {},
  hasSecret: false,
  start: '',
  stop: '',
  onFailure: 'pause',
}

/** Keeps a stored secret, as responses show it. */
const MASK = '******'

const NEWEST = 'newest'

const isEmpty = (value: object) => Object.keys(value).length === 0

export function draftOf(pipeline: Pipeline): Draft {
  const { id, name, topic, filter, transforms, abi_file: abi, destination_config: config } = pipeline
  const { execution_mode: mode, execution_start_from: start, execution_stop_from: stop } = pipeline
  const { type, ...fields } = config
  const texts = Object.entries(fields).filter(([, value]) => value !== undefined && value !== MASK)
  return {
    id,
    name,
    topic,
    filter: filter === null ? '' : JSON.stringify(filter, null, 2),
    sql: Object.entries(transforms).map(([own, text]) => ({ name: own, text })),
    abi: isEmpty(abi) ? '' : JSON.stringify(abi),
    contracts: pipeline.abi_contract_addresses.join('\n'),
    unmatched: pipeline.abi_unmatched,
    type,
    config: Object.fromEntries(texts.map(([field, value]) => [field, String(value)])),
    hasSecret: Object.values(fields).includes(MASK),
    start,
    stop: mode === 'bounded' ? stop || NEWEST : '',
    onFailure: pipeline.on_failure,
  }
}

/** Messages by path of a field. */
export type FieldErrors = Readonly<Record<string, string>>
type Body = Record<string, unknown>
type Read = { readonly ok: true; readonly body: Body } | { readonly ok: false; readonly errors: FieldErrors }

/** The fields of a preview. */
export function rowsBody(draft: Draft): Read {
  const errors: Record<string, string> = {}
  const json = (path: string, text: string, empty: unknown) => {
    try {
      return text.trim() === '' ? empty : JSON.parse(text)
    } catch {
      errors[path] = 'is not valid JSON'
      return empty
    }
  }
  const names = draft.sql.map(({ name }) => name.trim())
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) errors[`transforms.${twice}`] = 'is used twice; choose a different name'
  const body: Body = {
    topic: draft.topic,
    filter: json('filter', draft.filter, null),
    transforms: Object.fromEntries(draft.sql.map(({ name, text }) => [name.trim(), text])),
  }
  if (draft.topic === 'evm_logs') {
    body.abi_file = json('abi_file', draft.abi, {})
    body.abi_contract_addresses = draft.contracts.split(/[\s,]+/).filter((address) => address !== '')
    body.abi_unmatched = draft.unmatched
  }
  return isEmpty(errors) ? { ok: true, body } : { ok: false, errors }
}

/** All fields. `secret`: empty to keep the stored one. */
export function pipelineBody(draft: Draft, { type, fields }: Destination, secret: string): Read {
  const rows = rowsBody(draft)
  if (!rows.ok) return rows
  const config = fields.flatMap(({ name, kind, required }): (readonly [string, string | boolean])[] => {
    const stored = draft.hasSecret ? MASK : ''
    const text = kind === 'secret' ? secret || stored : (draft.config[name] ?? '')
    if (kind === 'switch') return text === '' ? [] : [[name, text === 'true']]
    return text === '' && !required ? [] : [[name, text]]
  })
  const body = {
    ...rows.body,
    name: draft.name.trim(),
    destination_type: type,
    destination_config: { type, ...Object.fromEntries(config) },
    execution_mode: draft.stop === '' ? 'continuous' : 'bounded',
    execution_start_from: draft.start,
    execution_stop_from: draft.stop === NEWEST ? '' : draft.stop,
    on_failure: draft.onFailure,
  }
  return { ok: true, body }
}

/** An error of the API by field: "name: is required; destination_config.url: must be …". Others have an empty path. */
export function fieldErrors(message: string): FieldErrors {
  const parts = message.split(/; (?=[a-z_]+(?:\.\w+)*: )/).map((part) => /^([a-z_]+(?:\.\w+)*): (.*)$/s.exec(part))
  if (parts.some((part) => part === null)) return { '': message }
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']))
}

/** The first message of a field or of a part of it, which then names the part. */
export function errorAt(errors: FieldErrors, path: string): string | null {
  const own = Object.entries(errors).find(([each]) => each === path || each.startsWith(`${path}.`))
  if (own === undefined) return null
  const [found, message] = own
  return found === path ? message : `${found.slice(path.length + 1)} ${message}`
}

const ROWS_PATHS = ['filter', 'transforms', 'abi_file', 'abi_contract_addresses', 'abi_unmatched']

/** The step with the first of these errors; null: no step has it. */
export function stepOf(errors: FieldErrors): Step | null {
  const [first = ''] = Object.keys(errors)
  const [root = ''] = first.split('.')
  if (root === '') return null
  return root === 'topic' ? 'topic' : ROWS_PATHS.includes(root) ? 'rows' : 'destination'
}

type PreviewRow = Readonly<Record<string, unknown>>

/** Columns of preview rows in the order of their first appearance, without the kind, which is the same for all. */
export function previewColumns(rows: readonly PreviewRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== '_kind')
}

export const cellText = (value: unknown) =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
