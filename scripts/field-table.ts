// Generates the tables of docs/operators/reference/status.md, which explain each field of a report, from the schemas of the
// reports. A nested field has a dotted path, `[]` for the entries of a list, `*` for any name.

import * as z from 'zod'
import { parseFieldDescription } from '../src/core/field-description.ts'
import { StatusShape as FeederStatusShape } from '../src/feeder/status.ts'
import { StatusShape } from '../src/protocol/feed/status-shape.ts'

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly anyOf?: readonly Schema[]
}

interface Field {
  readonly path: string
  readonly description: string
}

/** Returns every field of an object with its path; a parent comes before its nested fields. */
export function fieldsOf(schema: z.ZodType): Field[] {
  return fieldsIn(z.toJSONSchema(schema, { io: 'input' }) as Schema, '')
}

function fieldsIn(schema: Schema, path: string): Field[] {
  const { properties = {}, items, additionalProperties, anyOf = [] } = schema
  const inner = Object.entries(properties).flatMap(([name, one]) => {
    const own = path === '' ? name : `${path}.${name}`
    return [{ path: own, description: one.description ?? '' }, ...fieldsIn(one, own)]
  })
  if (items) inner.push(...fieldsIn(items, `${path}[]`))
  if (additionalProperties) inner.push(...fieldsIn(additionalProperties, `${path}.*`))
  return [...inner, ...anyOf.flatMap((one) => fieldsIn(one, path))]
}

function fieldTable(schema: z.ZodType): string {
  const rows = fieldsOf(schema).map(({ path, description }) => {
    const { meaning, expected, otherwise } = parseFieldDescription(description)
    return `| \`${path}\` | ${meaning} | ${expected} | ${otherwise} |`
  })
  return ['| Field | Meaning | Healthy | Otherwise |', '|---|---|---|---|', ...rows].join('\n')
}

export const statusTable = (): string => fieldTable(StatusShape)
export const feederStatusTable = (): string => fieldTable(FeederStatusShape)
