// Converts zod schemas to JSON Schema for the published documents. Named schemas move to the document's shared
// components.

import * as z from 'zod'

/**
 * Uses the input side of a schema, for responses too. Responses transform nothing, and the output side would forbid
 * unknown fields in objects. The output type of a pipe exists only in code and is not described.
 */
export function schemaOf(
  schema: z.ZodType,
  shared: Map<string, unknown>,
  target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12',
): Record<string, unknown> {
  const {
    $schema: _,
    $defs,
    definitions,
    ...own
  } = z.toJSONSchema(schema, { io: 'input', target, override: withoutEnd })
  for (const [name, definition] of Object.entries($defs ?? definitions ?? {}))
    shared.set(name, withSharedRefs(definition))
  return withSharedRefs(own)
}

/**
 * `maxItems` already limits the length of a tuple. If `items: false` is present too, generators produce an array of
 * `never`.
 */
function withoutEnd({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.prefixItems !== undefined && jsonSchema.items === false) delete jsonSchema.items
}

function withSharedRefs(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value).replaceAll(/"\$ref":"#\/(\$defs|definitions)\//g, '"$ref":"#/components/schemas/')
  return JSON.parse(text)
}

/** Maps the values of a record, keeping its keys. */
export function mapped<From, To>(
  record: Readonly<Record<string, From>>,
  of: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value, name)]))
}

export const jsonContent = (media: object) => ({ 'application/json': media })

export const ref = (kind: 'headers' | 'responses' | 'schemas', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
})
