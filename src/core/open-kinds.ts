// Schemas for sets that the exchange extends without notice. Known kinds must match their shape; unknown kinds pass.
// Used for published schemas and tests only, never at run time.

import * as z from 'zod'

/** A string with these known values. New values may appear. */
export function openEnum<const Values extends readonly [string, ...string[]]>(...values: Values) {
  return z.union([z.enum(values), z.string()])
}

const otherThan = (known: readonly string[]) => z.string().regex(new RegExp(`^(?!(?:${known.join('|')})$)`))

/** Union discriminated by the string at `key`, each kind with its own fields. Kind names are words. */
export function kindsBy<const Key extends string>(
  key: Key,
  kinds: Readonly<Record<string, z.ZodRawShape>>,
): z.ZodType<{ readonly [K in Key]: string } & { readonly [other: string]: unknown }> {
  const known = Object.entries(kinds).map(([kind, shape]) => z.looseObject({ [key]: z.literal(kind), ...shape }))
  return z.union([...known, z.looseObject({ [key]: otherThan(Object.keys(kinds)) })]) as never
}

/** Union discriminated by which key is present; the value at the key has its own shape. */
export function kindsByKey(kinds: Readonly<Record<string, z.ZodType>>): z.ZodType<Readonly<Record<string, unknown>>> {
  const known = Object.entries(kinds).map(([kind, value]) => z.looseObject({ [kind]: value }))
  const other = z
    .record(otherThan(Object.keys(kinds)), z.unknown())
    .refine((value) => Object.keys(value).length > 0)
    .meta({ minProperties: 1 })
  return z.union([...known, other])
}
