// Parses a frame that a client sent on /ws. Invariants: a rejected frame has no effect, and the error names the field
// and the fix in the public server's format. A field that belongs elsewhere in the frame is rejected, because ignoring
// it would change the result. Any other unknown field is ignored and reported.

import type * as z from 'zod'
import type { Issue } from '../core/failure.ts'
import { isDeeperThan } from '../core/json.ts'
import { nearestName, normalizedName } from '../core/nearest.ts'
import { err, ok, type Result } from '../core/result.ts'
import { shapeAt } from '../core/schema-shape.ts'
import { type UnknownField, unknownFieldsIn } from '../core/unknown-fields.ts'
import { parseWith } from '../core/validation-errors.ts'
import { invalidRequest } from '../protocol/relay/frames.ts'
import { PostFrame, ReplayRange, UpFrame } from '../protocol/relay/protocol.ts'
import { CHANNELS } from './channels/catalogue.ts'

const MAX_DEPTH = 32

/** Fields of info requests in `post` that clients may misplace next to `request`. */
export const INFO_FIELDS: readonly string[] = (
  'aggregateByTime block_height builder coin cursor dex endTime height limit mantissa nSigFigs oid outcome ' +
  'req reversed rows side source startTime sz time token tokenId user users vaultAddress venue'
).split(' ')

const fieldsOf = (schema: z.core.$ZodType) => Object.keys(shapeAt(schema, undefined, []))
const FRAME_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  UpFrame.options.map((option) => [option.shape.method.value, fieldsOf(option)]),
)
const REQUEST_FIELDS = fieldsOf(PostFrame.shape.request)
/** Excludes `type`, because a `type` next to the body does not change the body's own `type`. */
const BODY_FIELDS = CHANNELS.flatMap(({ request }) => fieldsOf(request)).filter((name) => name !== 'type')

/** Correct location of each field by its folded name, such as `"coin" inside "subscription"`. */
type FieldLocations = ReadonlyMap<string, string>
const locationsIn = (location: string, names: readonly string[]): [string, string][] =>
  names.map((name) => [normalizedName(name), `"${name}" inside "${location}"`])

const BODY_LOCATIONS = locationsIn('subscription', BODY_FIELDS)
const REQUEST_LOCATIONS = locationsIn('request.payload', INFO_FIELDS)
const LOCATIONS: Readonly<Record<UpFrame['method'], FieldLocations>> = {
  ping: new Map(),
  subscribe: new Map([...locationsIn('replay', fieldsOf(ReplayRange)), ...BODY_LOCATIONS]),
  unsubscribe: new Map(BODY_LOCATIONS),
  replay: new Map(BODY_LOCATIONS),
  post: new Map([...REQUEST_LOCATIONS, ...locationsIn('request', ['payload'])]),
}

export interface ClientFrame {
  readonly frame: UpFrame
  /** Notice about the frame's ignored unknown fields; null if it has none. */
  readonly ignored: string | null
}

/** Returns the frame if it is not too large, or else the error frame. */
export function readFrame(text: string): Result<ClientFrame, string> {
  if (isDeeperThan(text, MAX_DEPTH)) {
    return err(invalidFrame(text, { path: 'frame', message: `nested deeper than ${MAX_DEPTH}` }))
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return err(invalidFrame(text, { path: 'frame', message: 'not valid JSON' }))
  }
  const parsed = parseWith(UpFrame, value)
  if (!parsed.ok) return err(invalidFrame(text, parsed.error[0], postIdOf(value)))
  const frame = parsed.value
  const unknown = unknownFields(value as object, frame)
  if (unknown.length === 0) return ok({ frame, ignored: null })
  const misplaced = findMisplaced(unknown, frame.method)
  if (misplaced) return err(invalidFrame(text, misplaced, postIdOf(value)))
  return ok({ frame, ignored: ignoredNotice(unknown, frame.method) })
}

/** Error frame for input that cannot be parsed: a binary frame, or a string that is not a request. */
export function invalidFrame(sent: string, issue: Issue, postId: number | null = null): string {
  const where = issue.path || 'frame'
  const code = where === 'frame' ? 'invalid_json' : 'invalid_request'
  return invalidRequest(sent, `${where}: ${issue.message}`, code, postId)
}

/** Includes unknown fields of the `request` of a `post`. */
function unknownFields(sent: object, frame: UpFrame): readonly UnknownField[] {
  const beside = unknownFieldsIn(sent, FRAME_FIELDS.get(frame.method) ?? [], '')
  if (frame.method !== 'post') return beside
  return [...beside, ...unknownFieldsIn(frame.request, REQUEST_FIELDS, 'request.')]
}

/** Returns the first field that belongs elsewhere, or that is a known field in another spelling. */
function findMisplaced(unknown: readonly UnknownField[], method: UpFrame['method']): Issue | null {
  for (const { prefix, name, unsent } of unknown) {
    const path = prefix + name
    const key = normalizedName(name)
    const known = unsent.find((one) => normalizedName(one) === key)
    if (known !== undefined) return { path, message: `unknown field. Did you mean "${known}"?` }
    const location = LOCATIONS[method].get(key)
    if (location !== undefined) return { path, message: `does not belong here. Send it as ${location}` }
  }
  return null
}

function ignoredNotice(unknown: readonly UnknownField[], method: UpFrame['method']): string {
  const names = unknown.map(({ prefix, name, unsent }) => {
    const nearest = nearestName(name, unsent)
    return JSON.stringify(prefix + name) + (nearest === undefined ? '' : ` (did you mean "${nearest}"?)`)
  })
  return `Ignored unknown fields in ${method === 'unsubscribe' ? 'an' : 'a'} ${method} frame: ${names.join(', ')}. Remove or rename them.`
}

function postIdOf(value: unknown): number | null {
  const { method, id } = Object(value) as { method?: unknown; id?: unknown }
  return method === 'post' && Number.isSafeInteger(id) ? (id as number) : null
}
