// Request fields that the schema does not know. They are ignored and reported to the caller.

import type * as z from 'zod'
import { nearestName } from './nearest.ts'
import { shapeAt } from './schema-shape.ts'

/** Limits the number and the length of reported names, so that the report is not larger than the request. */
const NAMES_MAX = 16
const NAME_CHARS = 64

export interface UnknownField {
  /** Path of the object that contains the field, with a trailing dot; empty for the request itself. */
  readonly prefix: string
  /** Name of the field, possibly truncated. */
  readonly name: string
  /** Known fields of the object that were not sent. One of them may have been intended. */
  readonly unsent: readonly string[]
}

/** The unknown fields of an object. If `known` is empty, every field is accepted. */
export function unknownFieldsIn(sent: object, known: readonly string[], prefix: string): UnknownField[] {
  const unsent = known.filter((name) => !Object.hasOwn(sent, name))
  const names = Object.keys(sent)
  if (known.length === 0 || names.length === known.length - unsent.length) return []
  const unknown = names.filter((name) => !known.includes(name)).slice(0, NAMES_MAX)
  return unknown.map((name) => ({ prefix, name: name.slice(0, NAME_CHARS), unsent }))
}

/**
 * Header value that lists the ignored fields of the request and of the objects directly in it. Null if there are none.
 */
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

/** Replaces characters that a header cannot contain with question marks. */
function headerText({ prefix, name, unsent }: UnknownField): string {
  const meant = nearestName(name, unsent)
  return prefix + name.replaceAll(/[^\w.-]/g, '?') + (meant === undefined ? '' : ` (did you mean ${prefix}${meant}?)`)
}
