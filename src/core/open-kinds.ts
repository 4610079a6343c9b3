// Schemas for sets of kinds that the exchange extends without notice. A known kind must match its shape. An unknown
// kind is accepted. They are used only for published schemas and tests, never at run time.

import * as z from 'zod'

/** A string that usually has one of these values. New values may appear. */
export function openEnum<const Values extends readonly [string, ...string[]]>(...values: Values) {
  return z.union([z.enum(values), z.string()])
}

const otherThan = (known: readonly string[]) => z.string().regex(new RegExp(`^(?!(?:${known.join('|')})$)`))

/**
 * A union whose kinds are distinguished by the string at `key`. Each kind has its own fields. The name of a kind must
 * be a word.
 */
export function kindsBy<const Key extends string>(
  key: Key,
  kinds: Readonly<Record<string, z.ZodRawShape>>,
): z.ZodType<{ readonly [K in Key]: string } & { readonly [other: string]: unknown }> {
  const known = Object.entries(kinds).map(([kind, shape]) => z.looseObject({ [key]: z.literal(kind), ...shape }))
  return z.union([...known, z.looseObject({ [key]: otherThan(Object.keys(kinds)) })]) as never
}

/** A union whose kinds are distinguished by the key that is present. The value at that key has its own shape. */
export function kindsByKey(kinds: Readonly<Record<string, z.ZodType>>): z.ZodType<Readonly<Record<string, unknown>>> {
  const known = Object.entries(kinds).map(([kind, value]) => z.looseObject({ [kind]: value }))
  const other = z
    .record(otherThan(Object.keys(kinds)), z.unknown())
    .refine((value) => Object.keys(value).length > 0)
    .meta({ minProperties: 1 })
  return z.union([...known, other])
}
