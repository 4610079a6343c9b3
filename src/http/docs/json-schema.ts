// JSON Schema of zod schemas for the published document; what has a name moves to the schemas that the document shares.

import * as z from 'zod'

/**
 * As input for answers too: they do not transform, and as output their objects would be closed. What a schema can only
 * say in code (a pipe to another type) is left open.
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

/** `maxItems` says that a tuple ends; generators that find `items` too make an array of nothing of it. */
function withoutEnd({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.prefixItems !== undefined && jsonSchema.items === false) delete jsonSchema.items
}

function withSharedRefs(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value).replaceAll(/"\$ref":"#\/(\$defs|definitions)\//g, '"$ref":"#/components/schemas/')
  return JSON.parse(text)
}

/** The same names with what becomes of each. */
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
