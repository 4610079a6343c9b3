// What may become of a pipeline's record. Laws: a change is whole or refused, and each refusal names its field; what was
// read changes nothing when it is sent back; a secret stays only with whom it was given for.

import * as z from 'zod'
import { canonicalJson } from '../core/canonical-json.ts'
import type { Issue } from '../core/failure.ts'
import { nearestName } from '../core/nearest.ts'
import { err, ok, type Result } from '../core/result.ts'
import { readBody } from '../relay/channels/catalogue.ts'
import { evmIssues } from './evm/evm-record.ts'
import { postgresIssues } from './hyperdrive.ts'
import { DEFAULTS, FILTERS, PIPELINE_FIELDS, type PipelineFields, type Topic } from './pipeline.ts'
import { MASK, masked, recipientOf, secretField, secretOf } from './secrets.ts'

/** A record to be written: its fields show no secret. */
export interface Written {
  readonly fields: PipelineFields
  /** Empty: there is none; null: the one that there is stays. */
  readonly secret: string | null
}
type Checked = Result<Written, readonly Issue[]>

/** What would have to be remembered, or asked for, of everyone. */
const NEED_WALLETS: readonly Topic[] = ['order_updates', 'completed_trades']

const { name, topic, destination_config, ...REST } = PIPELINE_FIELDS

/** What who creates one sends. */
export const NewPipeline = z
  .strictObject({
    name,
    topic,
    destination_config,
    ...z.object(REST).partial().shape,
  })
  .meta({ id: 'NewPipeline' })

const READ_ONLY = z.unknown().optional().describe('Cannot be changed: what was read may be sent back')

/** What who changes one sends: some fields, each whole. */
export const PipelineChange = z
  .strictObject({
    ...z.object(PIPELINE_FIELDS).partial().shape,
    topic: topic.optional().describe('Cannot be changed: may be sent back as it was read'),
    id: z.string().optional().describe('Cannot be changed: may be sent back as it was read'),
    created_by: READ_ONLY,
    charged_to: READ_ONLY,
    group: READ_ONLY,
    created_at: READ_ONLY,
    updated_at: READ_ONLY,
  })
  .meta({ id: 'PipelineChange' })

export type NewPipeline = z.infer<typeof NewPipeline>
export type PipelineChange = z.infer<typeof PipelineChange>

export function created(sent: NewPipeline): Checked {
  const config = sent.destination_config
  const fields = { ...DEFAULTS, destination_type: config.type, ...said(sent) } as PipelineFields
  const field = secretField(config)
  const isMask = secretOf(config) === MASK
  return written(fields, secretOf(config), isMask ? [secretIssue(field, 'is "******": send the secret itself')] : [])
}

/** `current` shows no secret. */
export function changed(
  id: string,
  current: PipelineFields,
  {
    id: sentId = id,
    created_by: _,
    charged_to: __,
    group: ___,
    created_at: ____,
    updated_at: _____,
    ...sent
  }: PipelineChange,
): Checked {
  const config = sent.destination_config ?? current.destination_config
  const next = { ...current, destination_type: config.type, ...said(sent) } as PipelineFields
  const issues: Issue[] = []
  if (sentId !== id) issues.push({ path: 'id', message: 'cannot be changed' })
  if (next.topic !== current.topic)
    issues.push({ path: 'topic', message: 'cannot be changed: create another pipeline' })
  const isKept = secretOf(config) === MASK
  if (isKept) issues.push(...keepingIssues(current, config))
  return written(next, isKept ? null : secretOf(config), issues)
}

/** Whether a change leaves everything as it is. */
export function isSame(current: PipelineFields, { fields, secret }: Written): boolean {
  const isSecretSame = secret === null || (secret === '' && secretOf(current.destination_config) === '')
  // Each transform sees those before it.
  const isOrderSame = JSON.stringify(fields.transforms) === JSON.stringify(current.transforms)
  return isSecretSame && isOrderSame && canonicalJson(fields) === canonicalJson(current)
}

/** Fields that change nothing of what a pipeline sends, or of what becomes of it. */
const FOR_PEOPLE = ['name', 'project', 'description', 'status'] as const

/** What a change makes another: where rows go, and what is sent at all. */
export function sendingChanges(before: PipelineFields, { fields, secret }: Written) {
  const isSecretNew = secret !== null && (secret !== '' || secretOf(before.destination_config) !== '')
  const config = ({ destination_config }: PipelineFields) => canonicalJson(destination_config)
  const hasDestination = isSecretNew || config(before) !== config(fields)
  // Each transform sees those before it: their order counts.
  const sent = (of: PipelineFields) => {
    const rest = Object.fromEntries(Object.entries(of).filter(([name]) => !FOR_PEOPLE.some((each) => each === name)))
    return canonicalJson({ ...rest, transforms: JSON.stringify(of.transforms) })
  }
  return { hasDestination, hasAny: hasDestination || sent(before) !== sent(fields) }
}

/** Why the secret that there is cannot be that of this destination. */
function keepingIssues({ destination_config: current }: PipelineFields, config: PipelineFields['destination_config']) {
  if (secretOf(current) === '') return [secretIssue(secretField(config), 'is "******", and there is none to keep')]
  if (recipientOf(current) === recipientOf(config)) return []
  return [secretIssue(secretField(config), 'was given for another destination: send it with the new one')]
}

function secretIssue(field: string | null, message: string): Issue {
  return { path: `destination_config.${field}`, message }
}

function written(fields: PipelineFields, secret: string | null, issues: readonly Issue[]): Checked {
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

/** A transform is a table for those behind it: one with a name of ours, or of another one, would stand in its place. */
const ENGINE_NAME = /^(?:sqlite_|pragma_|json_each$|json_tree$|dbstat$)/i

function nameIssues({ topic, transforms }: PipelineFields): Issue[] {
  const seen = new Set<string>()
  return Object.keys(transforms).flatMap((own) => {
    const key = own.toLowerCase()
    const isAgain = seen.size === seen.add(key).size
    const why =
      key === topic ? 'the topic' : ENGINE_NAME.test(own) ? 'a table of SQLite' : isAgain ? 'another transform' : null
    return why === null ? [] : [{ path: `transforms.${own}`, message: `has the name of ${why}: choose another name` }]
  })
}

function typeIssues({ destination_type: type, destination_config: config }: PipelineFields): Issue[] {
  const issues = config.type === 'postgres' ? postgresIssues(config) : []
  if (type === config.type) return issues
  return [{ path: 'destination_type', message: `must be "${config.type}", as in the config` }, ...issues]
}

function positionIssues({
  execution_mode,
  execution_start_from: from,
  execution_stop_from: to,
}: PipelineFields): Issue[] {
  const issue = (message: string) => [{ path: 'execution_stop_from', message }]
  if (execution_mode === 'bounded' && isNewest(from) && isNewest(to)) {
    const message = 'must be before where it ends, the newest block: "earliest", a height or a time'
    return [{ path: 'execution_start_from', message }]
  }
  if (to === '') return []
  if (execution_mode !== 'bounded') return issue('goes with "execution_mode" "bounded"')
  const isBefore =
    placeOf(from) !== null && placeOf(to) !== null && isHeight(from) === isHeight(to) && placeOf(to)! < placeOf(from)!
  return to === 'earliest' || isBefore ? issue('must not be before "execution_start_from"') : []
}

const isNewest = (position: string) => position === '' || position === 'latest'
const isHeight = (position: string) => /^\d+$/.test(position)

/** A height or Unix milliseconds; null where the words do not tell. */
function placeOf(position: string): number | null {
  const place = isHeight(position) ? Number(position) : Date.parse(position)
  return Number.isNaN(place) ? null : place
}

function filterIssues(fields: PipelineFields): readonly Issue[] {
  const { topic, filter } = fields
  const issue = (message: string, path = 'filter') => [{ path, message }]
  const types = FILTERS[topic]
  if (topic === 'evm_logs') return evmIssues(fields)
  if (filter === null)
    return NEED_WALLETS.includes(topic) ? issue(`is required: "${topic}" are told of wallets that it names`) : []
  if (!types.includes(filter.type)) {
    const meant = nearestName(filter.type, types)
    const question = meant === undefined ? '' : ` (did you mean "${meant}"?)`
    const all = types.map((each) => JSON.stringify(each)).join(' or ')
    return issue(`must be ${all} for "${topic}"${question}`, 'filter.type')
  }
  const body = readBody(filter)
  return body.ok ? [] : issue(body.error.message, `filter.${body.error.path}`)
}

/** Without fields that were left out. */
function said<T extends object>(sent: T): Partial<T> {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Partial<T>
}
