// Lists that the exchange adds to without notice, as schemas: what is known must have its own shape, what is not known
// passes. Only for what is published and tested; none of it runs where answers pass through.

import * as z from 'zod'

/** Text with these values today; others may come. */
export function openEnum<const Values extends readonly [string, ...string[]]>(...values: Values) {
  return z.union([z.enum(values), z.string()])
}

const otherThan = (known: readonly string[]) => z.string().regex(new RegExp(`^(?!(?:${known.join('|')})$)`))

/** Objects told apart by the text at `key`; each kind has further fields of its own. Kinds are words. */
export function kindsBy<const Key extends string>(
  key: Key,
  kinds: Readonly<Record<string, z.ZodRawShape>>,
): z.ZodType<{ readonly [K in Key]: string } & { readonly [other: string]: unknown }> {
  const known = Object.entries(kinds).map(([kind, shape]) => z.looseObject({ [key]: z.literal(kind), ...shape }))
  return z.union([...known, z.looseObject({ [key]: otherThan(Object.keys(kinds)) })]) as never
}

/** Objects told apart by which of these keys they have, one each; the value at the key has a shape of its own. */
export function kindsByKey(kinds: Readonly<Record<string, z.ZodType>>): z.ZodType<Readonly<Record<string, unknown>>> {
  const known = Object.entries(kinds).map(([kind, value]) => z.looseObject({ [kind]: value }))
  const other = z
    .record(otherThan(Object.keys(kinds)), z.unknown())
    .refine((value) => Object.keys(value).length > 0)
    .meta({ minProperties: 1 })
  return z.union([...known, other])
}
