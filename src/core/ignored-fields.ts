// Names the fields of a request that its schema does not have and that were ignored, in the form of a header's value.

import type * as z from 'zod'
import { nearestName } from './nearest.ts'
import { shapeAt } from './schema-shape.ts'

/** Of so many names the beginning is said back. */
const NAMES_MAX = 16
const NAME_CHARS = 64

/** Null where there are none. Looks into objects of the first level, too. */
export function ignoredFields(schema: z.core.$ZodType, sent: object): string | null {
  const inner = Object.entries(sent).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? unknownIn(Object.keys(shapeAt(schema, sent, [name])), value, `${name}.`)
      : [],
  )
  const names = [...unknownIn(Object.keys(shapeAt(schema, sent, [])), sent, ''), ...inner].slice(0, NAMES_MAX)
  return names.length === 0 ? null : names.join(', ')
}

/** Without known fields it is an object of any fields, or a schema that says nothing of them. */
function unknownIn(known: readonly string[], sent: object, path: string): string[] {
  if (known.length === 0) return []
  const unsent = known.filter((name) => !Object.hasOwn(sent, name))
  const unknown = Object.keys(sent).filter((name) => !known.includes(name))
  return unknown.slice(0, NAMES_MAX).map((name) => {
    const meant = nearestName(name, unsent)
    return path + asHeader(name) + (meant === undefined ? '' : ` (did you mean ${path}${meant}?)`)
  })
}

/** What a header cannot hold is shown as a question mark. */
function asHeader(name: string): string {
  return name.slice(0, NAME_CHARS).replaceAll(/[^\w.-]/g, '?')
}
