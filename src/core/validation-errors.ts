// Turns schema errors into field paths and messages for API callers. A schema's own message takes precedence.

import type * as z from 'zod'
import type { Issue } from './failure.ts'
import { nearestName } from './nearest.ts'
import { err, ok, type Result } from './result.ts'
import { type Shape, shapeAt, valueAt } from './schema-shape.ts'

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  tuple: 'an array',
  record: 'an object',
}

type RawIssue = Parameters<z.core.$ZodErrorMap>[0]

/** The message for an issue; undefined to keep zod's message. */
function messageOf(issue: RawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${EXPECTED[String(issue.expected)] ?? issue.expected}`
    case 'invalid_value':
    case 'invalid_union': {
      const values = valuesOf(issue)
        ?.map((value) => JSON.stringify(value))
        .join(' or ')
      return values && `${lacksDiscriminator(issue) ? 'is required:' : 'must be'} ${values}`
    }
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : `must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`
    default:
      return undefined
  }
}

/** Whether the discriminator field is missing. */
function lacksDiscriminator(issue: RawIssue): boolean {
  if (issue.code !== 'invalid_union' || typeof issue.discriminator !== 'string') return false
  return (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator] === undefined
}

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '')

/** Maximum length of an unknown field name in a message. The name remains recognizable, but the message stays short. */
const KEY_CHARS = 64
/** Maximum number of unknown fields to report per object, because each suggestion takes time to compute. */
const KEYS_MAX = 16

/**
 * Parses the value. Null if zod itself throws: if an object is sent instead of a string, zod reads its `length`, which
 * may not be a number.
 */
function safeParse<T>(schema: z.ZodType<T>, value: unknown) {
  try {
    return schema.safeParse(value, { error: messageOf })
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** The top-level field whose `length` is not a number. */
function fieldWithLength(value: unknown): string {
  const isSuch = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one) && 'length' in one
  return Object.entries(value as object).find(([, one]) => isSuch(one))?.[0] ?? ''
}

/** Returns the parsed value. If it is invalid, returns at least one issue with the dotted path of its field. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): Result<T, readonly [Issue, ...Issue[]]> {
  const parsed = safeParse(schema, value)
  if (parsed === null) return err([{ path: fieldWithLength(value), message: 'must not be an object with a "length"' }])
  if (parsed.success) return ok(parsed.data)
  return err(parsed.error.issues.flatMap((issue) => issuesOf(issue, schema, value)) as [Issue, ...Issue[]])
}

function issuesOf(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): Issue[] {
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys')
    return [
      { path, message: issue.message + (valueSuggestion(issue, value) ?? missingFieldHint(issue, schema, value)) },
    ]
  const shape = shapeAt(schema, value, issue.path)
  const sent = valueAt(value, issue.path) as object
  return issue.keys.slice(0, KEYS_MAX).map((key) => ({
    path: [...issue.path, key.slice(0, KEY_CHARS)].join('.'),
    message: `unknown field${fieldSuggestion(key, shape, sent)}`,
  }))
}

/** Suggests the field that was probably intended. If no other field is possible, suggests removing the field. */
function fieldSuggestion(key: string, shape: Shape, sent: object): string {
  const unsent = Object.keys(shape).filter((name) => !Object.hasOwn(sent, name))
  const name = nearestName(key, unsent)
  const meant = name === undefined ? undefined : shape[name]
  if (meant) return `; did you mean "${name}"${expectedForm(meant)}?`
  return unsent.length === 0 ? ': remove it' : `; valid fields: ${Object.keys(shape).join(', ')}`
}

/** The expected value in parentheses, from the schema's own error message. */
function expectedForm(field: z.core.$ZodType): string {
  const refused = parseWith(field as z.ZodType, Symbol())
  const form = refused.ok ? undefined : /^must be ([^;]+)/.exec(refused.error[0].message)?.[1]
  return form === undefined ? '' : ` (${form})`
}

/** The closest allowed value in parentheses; undefined if the issue does not list the allowed values. */
function valueSuggestion(issue: z.core.$ZodIssue, value: unknown): string | undefined {
  const values = valuesOf(issue)
  const sent = valueAt(value, issue.path)
  if (values === undefined || typeof sent !== 'string') return undefined
  const name = nearestName(sent, values.map(String))
  return name === undefined ? '' : ` (did you mean "${name}"?)`
}

/** The allowed values, if the issue lists them. */
function valuesOf(issue: RawIssue | z.core.$ZodIssue): readonly unknown[] | undefined {
  if (issue.code === 'invalid_value') return issue.values as readonly unknown[]
  return issue.code === 'invalid_union' && 'options' in issue ? (issue.options as readonly unknown[]) : undefined
}

/** A hint for a missing field: a similar field that was sent, or the expected fields. */
function missingFieldHint({ path }: z.core.$ZodIssue, schema: z.ZodType, value: unknown): string {
  const parent = valueAt(value, path.slice(0, -1))
  const name = path.at(-1)
  if (typeof name !== 'string' || typeof parent !== 'object' || parent === null || name in parent) return ''
  const shape = shapeAt(schema, value, path.slice(0, -1))
  const sent = nearestName(
    name,
    Object.keys(parent)
      .filter((key) => key.length <= KEY_CHARS && !Object.hasOwn(shape, key))
      .slice(0, KEYS_MAX),
  )
  if (sent !== undefined) return ` (you sent ${JSON.stringify(sent)})`
  const inner = Object.keys(shape[name] === undefined ? {} : shapeAt(shape[name], undefined, []))
  return inner.length === 0 ? '' : `, an object with ${inner.join(', ')}`
}
