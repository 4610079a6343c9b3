// What a field of a report means to who reads it, kept beside its schema: the published schema and the table of the
// documents say the same, because both are made of it.

import type * as z from 'zod'

interface FieldDescription {
  /** What it says, with its unit. */
  readonly meaning: string
  /** What it looks like where all is well; empty: any value is. */
  readonly expected: string
  /** What to do where it does not. */
  readonly otherwise: string
}

const EXPECTED = '. Well: '
const OTHERWISE = '. Otherwise: '

/** The schema with its words as description. They end without a full stop. */
export function describeField<T extends z.ZodType>(schema: T, meaning: string, expected = '', otherwise = ''): T {
  return schema.describe(`${meaning}${expected && EXPECTED + expected}${otherwise && OTHERWISE + otherwise}.`)
}

/** Inverse of `described`. */
export function parseFieldDescription(description: string): FieldDescription {
  const [rest = '', otherwise = ''] = description.replace(/\.$/, '').split(OTHERWISE)
  const [meaning = '', expected = ''] = rest.split(EXPECTED)
  return { meaning, expected, otherwise }
}
