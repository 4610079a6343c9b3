// Descriptions of report fields, which are stored in the fields' schemas. The published schema and the tables in the
// docs are generated from them.

import type * as z from 'zod'

interface FieldDescription {
  /** The meaning of the field, with its unit. */
  readonly meaning: string
  /** The healthy value. If empty, any value is healthy. */
  readonly expected: string
  /** Meaning of an unhealthy value, or its remedy. */
  readonly otherwise: string
}

const EXPECTED = '. Healthy: '
const OTHERWISE = '. Otherwise: '

/** Adds a description to a schema. Each part must be written without a full stop. */
export function describeField<T extends z.ZodType>(schema: T, meaning: string, expected = '', otherwise = ''): T {
  return schema.describe(`${meaning}${expected && EXPECTED + expected}${otherwise && OTHERWISE + otherwise}.`)
}

/** The inverse of `describeField`. */
export function parseFieldDescription(description: string): FieldDescription {
  const [rest = '', otherwise = ''] = description.replace(/\.$/, '').split(OTHERWISE)
  const [meaning = '', expected = ''] = rest.split(EXPECTED)
  return { meaning, expected, otherwise }
}
