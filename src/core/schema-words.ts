// Parsing at an edge: what a schema refuses, as fields and sentences for people who call an API, not for its authors.
// A schema's own messages stand; these words are for what it leaves to zod.

import type * as z from 'zod'
import type { Issue } from './failure.ts'
import { err, ok, type Result } from './result.ts'

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

/** The sentence of an issue; undefined leaves zod's own. */
function wordsOf(issue: RawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${EXPECTED[String(issue.expected)] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
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

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '')

/** How much of an unknown field's name is said back: enough to recognise it, never an amplifier. */
const KEY_CHARS = 64

/** The value as the schema reads it, or what is wrong with it: at least one issue, with the dotted path of its field. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): Result<T, readonly [Issue, ...Issue[]]> {
  const parsed = schema.safeParse(value, { error: wordsOf })
  return parsed.success ? ok(parsed.data) : err(parsed.error.issues.flatMap(issuesOf) as [Issue, ...Issue[]])
}

function issuesOf(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), message: issue.message }]
  return issue.keys.map((key) => ({
    path: [...issue.path, key.slice(0, KEY_CHARS)].join('.'),
    message: 'unknown field: leave it out',
  }))
}
