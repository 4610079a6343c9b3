// Descriptions of report fields, stored in their schemas. The published schema and the docs tables are generated from
// them.

import type * as z from 'zod'

interface FieldDescription {
  /** Meaning of the field, with its unit. */
  readonly meaning: string
  /** Healthy value. Empty: any value is healthy. */
  readonly expected: string
  /** Remedy for an unhealthy value. */
  readonly otherwise: string
}

const EXPECTED = '. Healthy: '
const OTHERWISE = '. Otherwise: '

/** Adds a description to the schema. The parts end without a full stop. */
export function describeField<T extends z.ZodType>(schema: T, meaning: string, expected = '', otherwise = ''): T {
  return schema.describe(`${meaning}${expected && EXPECTED + expected}${otherwise && OTHERWISE + otherwise}.`)
}

/** Inverse of `describeField`. */
export function parseFieldDescription(description: string): FieldDescription {
  const [rest = '', otherwise = ''] = description.replace(/\.$/, '').split(OTHERWISE)
  const [meaning = '', expected = ''] = rest.split(EXPECTED)
  return { meaning, expected, otherwise }
}
