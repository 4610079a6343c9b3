// What a field of a report means to who reads it, kept beside its schema: the published schema and the table of the
// documents say the same, because both are made of it.

import type * as z from 'zod'

interface FieldWords {
  /** What it says, with its unit. */
  readonly meaning: string
  /** What it looks like where all is well; empty: any value is. */
  readonly well: string
  /** What to do where it does not. */
  readonly otherwise: string
}

const WELL = '. Well: '
const OTHERWISE = '. Otherwise: '

/** The schema with its words as description. They end without a full stop. */
export function described<T extends z.ZodType>(schema: T, meaning: string, well = '', otherwise = ''): T {
  return schema.describe(`${meaning}${well && WELL + well}${otherwise && OTHERWISE + otherwise}.`)
}

/** Inverse of `described`. */
export function fieldWords(description: string): FieldWords {
  const [rest = '', otherwise = ''] = description.replace(/\.$/, '').split(OTHERWISE)
  const [meaning = '', well = ''] = rest.split(WELL)
  return { meaning, well, otherwise }
}
