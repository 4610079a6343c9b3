// Inputs of the form that sends a request: one for each field of the request's schema, with the value of the sample.

import * as z from 'zod'
import { Ago, type InputKind, type RequestField } from '../../../console/requests/request-form.ts'

type Schema = z.core.JSONSchema.BaseSchema

/** Fields of a JSON body, except `type`. `sample`: values by name. */
export const bodyFields = (schema: z.ZodType, sample: Readonly<Record<string, unknown>>): RequestField[] =>
  fieldsBelow(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema, sample, '', 'body')

/** Query parameters, which are texts on the wire. */
export const queryFields = (schema: z.ZodType, sample: Readonly<Record<string, unknown>>): RequestField[] =>
  fieldsBelow(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema, sample, '', 'query')

export const pathFields = (
  params: Readonly<Record<string, z.ZodType>>,
  sample: (name: string) => string,
): RequestField[] =>
  Object.entries(params).map(([name, schema]) => {
    const { description = '' } = schema
    return {
      name,
      place: 'path',
      kind: 'text',
      choices: [],
      isRequired: true,
      value: sample(name),
      agoMs: null,
      description,
    }
  })

function fieldsBelow(
  schema: Schema,
  sample: Readonly<Record<string, unknown>>,
  above: string,
  place: RequestField['place'],
): RequestField[] {
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>)
    .filter(([name]) => `${above}${name}` !== 'type')
    .flatMap(([name, field]) => {
      const value = sample[name]
      if (field.properties !== undefined)
        return fieldsBelow(field, (value ?? {}) as Record<string, unknown>, `${above}${name}.`, place)
      const isRequired = (schema.required ?? []).includes(name) && field.default === undefined
      return [fieldOf(`${above}${name}`, field, { value, isRequired, place })]
    })
}

function fieldOf(
  name: string,
  field: Schema,
  { value, ...more }: { readonly value: unknown; readonly isRequired: boolean; readonly place: RequestField['place'] },
): RequestField {
  const kinds = ((field.anyOf ?? [field]) as Schema[]).filter(({ type }) => type !== 'null')
  const known = kindOf(kinds)
  // Texts with spaces, such as lines of an address, cannot be told apart in a list.
  const kind =
    known === 'list' && Array.isArray(value) && value.some((text) => /[\s,]/.test(String(text))) ? 'json' : known
  return {
    name,
    kind,
    choices: kind === 'boolean' ? ['true', 'false'] : choicesOf(kinds),
    value: value instanceof Ago ? '' : textOf(value, kind),
    agoMs: value instanceof Ago ? value.ms : null,
    description: field.description ?? kinds.find(({ description }) => description)?.description ?? '',
    ...more,
  }
}

const typeOf = ({ type }: Schema) => (Array.isArray(type) ? type.find((each) => each !== 'null') : type)

function kindOf(kinds: readonly Schema[]): InputKind {
  const types = kinds.map(typeOf)
  if (types.some((type) => type === 'integer' || type === 'number')) return 'number'
  if (types.every((type) => type === 'boolean')) return 'boolean'
  if (types.every((type) => type === 'string')) return 'text'
  const [only, ...others] = kinds
  const items = only?.items as Schema | undefined
  return others.length === 0 && typeOf(only ?? {}) === 'array' && items?.type === 'string' ? 'list' : 'json'
}

/** The values, if every alternative is a list of values. */
function choicesOf(kinds: readonly Schema[]): string[] {
  const values = kinds.map((kind) => kind.enum ?? (kind.const === undefined ? null : [kind.const]))
  return values.includes(null) ? [] : values.flatMap((each) => (each ?? []).map(String))
}

function textOf(value: unknown, kind: InputKind): string {
  if (value === undefined || value === null) return ''
  if (kind === 'json') return JSON.stringify(value)
  return Array.isArray(value) ? value.join(', ') : String(value)
}
