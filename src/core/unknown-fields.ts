// Fields of a request that its schema does not have: they are ignored, and named to whoever sent them.

import type * as z from 'zod'
import { nearestName } from './nearest.ts'
import { shapeAt } from './schema-shape.ts'

/** So many names are looked at and said back, and so much of each: a notice is no amplifier. */
const NAMES_MAX = 16
const NAME_CHARS = 64

export interface UnknownField {
  /** The path of its object, with a dot at the end; empty: the request itself. */
  readonly prefix: string
  /** Cut short. */
  readonly name: string
  /** Known fields of its object that were not sent: one of them may have been meant. */
  readonly unsent: readonly string[]
}

/** Without known fields `sent` may have any, or its schema does not say which. */
export function unknownFieldsIn(sent: object, known: readonly string[], prefix: string): UnknownField[] {
  const unsent = known.filter((name) => !Object.hasOwn(sent, name))
  const names = Object.keys(sent)
  if (known.length === 0 || names.length === known.length - unsent.length) return []
  const unknown = names.filter((name) => !known.includes(name)).slice(0, NAMES_MAX)
  return unknown.map((name) => ({ prefix, name: name.slice(0, NAME_CHARS), unsent }))
}

/** As the value of a header, null where there are none. Looks into objects of the first level, too. */
export function ignoredFields(schema: z.core.$ZodType, sent: object): string | null {
  const knownAt = (path: readonly string[]) => Object.keys(shapeAt(schema, sent, path))
  const inner = Object.entries(sent).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? unknownFieldsIn(value, knownAt([name]), `${name}.`)
      : [],
  )
  const unknown = [...unknownFieldsIn(sent, knownAt([]), ''), ...inner]
  return unknown.length === 0 ? null : unknown.slice(0, NAMES_MAX).map(headerText).join(', ')
}

/** What a header cannot hold is shown as a question mark. */
function headerText({ prefix, name, unsent }: UnknownField): string {
  const meant = nearestName(name, unsent)
  return prefix + name.replaceAll(/[^\w.-]/g, '?') + (meant === undefined ? '' : ` (did you mean ${prefix}${meant}?)`)
}
