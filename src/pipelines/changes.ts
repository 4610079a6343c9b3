// Validates new pipelines and changes to existing ones. Invariants: a change is applied whole or refused, and every
// refusal names its field; sending back what was read changes nothing; a stored secret stays with the destination it
// was given for.

import * as z from 'zod'
import { canonicalJson } from '../core/canonical-json.ts'
import type { Issue } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { evmIssues } from './evm/evm-record.ts'
import { postgresIssues } from './hyperdrive.ts'
import { DEFAULTS, PIPELINE_FIELDS, type PipelineFields } from './pipeline.ts'
import { MASK, masked, recipientOf, secretField, secretOf } from './secrets.ts'
import { selectTopic } from './topics/catalogue.ts'

/** A pipeline that may be stored. Its fields contain no secret. */
export interface ValidatedPipeline {
  readonly fields: PipelineFields
  /** Empty: no secret; null: the stored secret is kept. */
  readonly secret: string | null
}
type Validation = Result<ValidatedPipeline, readonly Issue[]>

const { name, topic, destination_config, ...REST } = PIPELINE_FIELDS

/** Request body that creates a pipeline. */
export const NewPipeline = z
  .strictObject({
    name,
    topic,
    destination_config,
    ...z.object(REST).partial().shape,
  })
  .meta({ id: 'NewPipeline' })

/** Request body that previews rows. */
export const PipelinePreview = z
  .strictObject({
    topic,
    ...z
      .object(REST)
      .pick({ filter: true, transforms: true, abi_file: true, abi_contract_addresses: true, abi_unmatched: true })
      .partial().shape,
  })
  .meta({ id: 'PipelinePreview' })

const READ_ONLY = z.unknown().optional().describe('Read-only; ignored in requests')

/** Request body that changes a pipeline. A field that is sent is replaced as a whole. */
export const PipelineChange = z
  .strictObject({
    ...z.object(PIPELINE_FIELDS).partial().shape,
    topic: topic.optional().describe('Read-only; may be sent back unchanged'),
    id: z.string().optional().describe('Read-only; may be sent back unchanged'),
    created_by: READ_ONLY,
    charged_to: READ_ONLY,
    group: READ_ONLY,
    created_at: READ_ONLY,
    updated_at: READ_ONLY,
  })
  .meta({ id: 'PipelineChange' })

export type NewPipeline = z.infer<typeof NewPipeline>
export type PipelineChange = z.infer<typeof PipelineChange>
export type PipelinePreview = z.infer<typeof PipelinePreview>

export function validateNew(input: NewPipeline): Validation {
  const config = input.destination_config
  const fields = { ...DEFAULTS, destination_type: config.type, ...writableFields(input) } as PipelineFields
  const field = secretField(config)
  const isMask = secretOf(config) === MASK
  return validated(
    fields,
    secretOf(config),
    isMask ? [secretIssue(field, 'must be the secret itself, not "******"')] : [],
  )
}

/** A preview has no destination, so any one without a secret stands for it. */
export function validatePreview(input: PipelinePreview): Validation {
  return validateNew({ ...input, name: 'preview', destination_config: { type: 'r2', prefix: '', format: 'ndjson' } })
}

/** `current` contains no secret. */
export function validateChange(id: string, current: PipelineFields, input: PipelineChange): Validation {
  const config = input.destination_config ?? current.destination_config
  const next = { ...current, destination_type: config.type, ...writableFields(input) } as PipelineFields
  const issues: Issue[] = []
  if ((input.id ?? id) !== id) issues.push({ path: 'id', message: 'cannot be changed' })
  if (next.topic !== current.topic)
    issues.push({ path: 'topic', message: 'cannot be changed; create a new pipeline instead' })
  const isKept = secretOf(config) === MASK
  if (isKept) issues.push(...keptSecretIssues(current, config))
  return validated(next, isKept ? null : secretOf(config), issues)
}

/** Fields that affect neither the rows nor their delivery. */
const NO_EFFECT_FIELDS = ['name', 'project', 'description', 'status'] as const

/** Whether a change affects anything, the rows that are sent, and the destination. */
export function differences(before: PipelineFields, { fields, secret }: ValidatedPipeline) {
  const isSecretNew = secret !== null && (secret !== '' || secretOf(before.destination_config) !== '')
  // Transforms read the results of earlier ones, so their order matters.
  const textOf = ({ transforms, ...rest }: Partial<PipelineFields>) =>
    canonicalJson({ ...rest, transforms: JSON.stringify(transforms) })
  const sent = (of: PipelineFields) =>
    textOf({ ...of, ...Object.fromEntries(NO_EFFECT_FIELDS.map((name) => [name, null])) })
  const differs = (text: (of: PipelineFields) => string) => isSecretNew || text(before) !== text(fields)
  return {
    isAny: differs(textOf),
    isSent: differs(sent),
    isDestination: differs(({ destination_config: config }) => canonicalJson(config)),
  }
}

/** Reasons why the stored secret cannot be kept for this destination. */
function keptSecretIssues(
  { destination_config: current }: PipelineFields,
  config: PipelineFields['destination_config'],
) {
  if (secretOf(current) === '')
    return [secretIssue(secretField(config), 'is "******", but no secret is stored. Send the secret itself')]
  if (recipientOf(current) === recipientOf(config)) return []
  return [secretIssue(secretField(config), 'must be sent again because the destination changes')]
}

function secretIssue(field: string | null, message: string): Issue {
  return { path: `destination_config.${field}`, message }
}

function validated(fields: PipelineFields, secret: string | null, issues: readonly Issue[]): Validation {
  const all = [
    ...issues,
    ...typeIssues(fields),
    ...positionIssues(fields),
    ...filterIssues(fields),
    ...nameIssues(fields),
  ]
  if (all.length > 0) return err(all)
  return ok({ fields: { ...fields, destination_config: masked(fields.destination_config) }, secret })
}

/** Each transform becomes a table, so its name must not hide a table of the batch or of SQLite. */
const ENGINE_NAME = /^(?:sqlite_|pragma_|json_each$|json_tree$|dbstat$)/i

function nameIssues({ topic, transforms }: PipelineFields): Issue[] {
  const seen = new Set<string>()
  return Object.keys(transforms).flatMap((own) => {
    const key = own.toLowerCase()
    const isAgain = seen.size === seen.add(key).size
    const why =
      key === topic ? 'the topic' : ENGINE_NAME.test(own) ? 'a table of SQLite' : isAgain ? 'another transform' : null
    return why === null
      ? []
      : [{ path: `transforms.${own}`, message: `conflicts with the name of ${why}; choose a different name` }]
  })
}

function typeIssues({ destination_type: type, destination_config: config }: PipelineFields): Issue[] {
  const issues = config.type === 'postgres' ? postgresIssues(config) : []
  if (type === config.type) return issues
  return [{ path: 'destination_type', message: `must be "${config.type}", the type of destination_config` }, ...issues]
}

function positionIssues({
  execution_mode,
  execution_start_from: from,
  execution_stop_from: to,
}: PipelineFields): Issue[] {
  const issue = (message: string) => [{ path: 'execution_stop_from', message }]
  if (execution_mode === 'bounded' && isNewest(from) && isNewest(to)) {
    const message = 'must be "earliest", a height or a time, because the pipeline ends at the newest block'
    return [{ path: 'execution_start_from', message }]
  }
  if (to === '') return []
  if (execution_mode !== 'bounded') return issue('requires "execution_mode" "bounded"')
  const begin = positionValue(from)
  const end = positionValue(to)
  const isBefore = begin !== null && end !== null && isHeight(from) === isHeight(to) && end < begin
  return to === 'earliest' || isBefore ? issue('must not be before "execution_start_from"') : []
}

const isNewest = (position: string) => position === '' || position === 'latest'
const isHeight = (position: string) => /^\d+$/.test(position)

/** A height or Unix ms; null for `earliest`, `latest` or an empty position. */
function positionValue(position: string): number | null {
  const value = isHeight(position) ? Number(position) : Date.parse(position)
  return Number.isNaN(value) ? null : value
}

function filterIssues(fields: PipelineFields): readonly Issue[] {
  if (fields.topic === 'evm_logs') return evmIssues(fields)
  const chosen = selectTopic(fields)
  return chosen.ok ? [] : [chosen.error]
}

/** The fields of a request, without the read-only ones. */
function writableFields(sent: PipelineChange): Partial<PipelineFields> {
  const own = Object.entries(sent).filter(([name, value]) => name in PIPELINE_FIELDS && value !== undefined)
  return Object.fromEntries(own)
}
