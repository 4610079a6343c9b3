// Converts an OpenAPI 3.1 document to OpenAPI 3.0, which most generators of languages other than TypeScript need.
// OpenAPI 3.0 has no type `null`, no tuples, no `const` and no webhooks. Integers get a size. Unions without a
// discriminator become any value, because generators for languages without union types cannot express them.

import { mapped } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>

/** Values that are data, not schemas. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'mapping'])
const MAX_INT32 = 2 ** 31 - 1

/** The same API in OpenAPI 3.0, without webhooks. Types may be wider than in the given document. */
export function olderDocument({ webhooks: _, ...document }: Json): Json {
  const { license, ...info } = document.info as Json
  const { name } = license as { name: string }
  const url = `https://spdx.org/licenses/${name}.html`
  return { ...(older(document) as Json), openapi: '3.0.3', info: { ...info, license: { name, url } } }
}

function older(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(older)
  if (!isObject(value)) return value
  const schema = RULES.reduce((given, rule) => rule(given), value)
  return mapped(schema, (each, key) => {
    if (DATA.has(key)) return each
    return key === 'properties' && isObject(each) ? mapped(each, older) : older(each)
  })
}

/** Each changes one keyword of a schema, and nothing in other objects. Nested schemas follow. */
const RULES: readonly ((schema: Json) => Json)[] = [
  withoutNull,
  withoutTypes,
  withoutUnion,
  withoutConst,
  withoutTuple,
  withoutNames,
  withExclusiveFlag,
  withSize,
  withoutSiblings,
  withTypedNull,
  withPortablePattern,
  withDistinctNames,
]

/** A `nullable` schema instead of a choice between a schema and null. */
function withoutNull({ anyOf, ...others }: Json): Json {
  if (!Array.isArray(anyOf)) return others
  const rest: Json[] = anyOf.filter((each) => !isNull(each))
  const nullable = rest.length < anyOf.length && { nullable: true }
  const [only] = rest
  if (only === undefined || rest.length > 1) return { ...others, anyOf: rest, ...nullable }
  return { ...('$ref' in only ? { allOf: [only] } : only), ...others, ...nullable }
}

/** One type, or any type if there are several. */
function withoutTypes({ type, ...others }: Json): Json {
  const types = Array.isArray(type) ? type : [type]
  const [only, ...more] = types.filter((each) => each !== 'null')
  const isOne = only !== undefined && more.length === 0
  return { ...(isOne && { type: only }), ...others, ...(types.includes('null') && { nullable: true }) }
}

const isNull = ({ type }: Json) => type === 'null'

/** No union, except one with a discriminator. */
function withoutUnion({ anyOf, oneOf, ...others }: Json): Json {
  if (oneOf !== undefined && 'discriminator' in others) return { ...others, oneOf }
  return others
}

function withoutConst({ const: value, ...others }: Json): Json {
  return value === undefined ? others : { type: typeof value, ...others, enum: [value] }
}

/** An array whose items have the type of all parts, or any type if the parts differ. */
function withoutTuple({ prefixItems, ...others }: Json): Json {
  if (!Array.isArray(prefixItems)) return others
  const [part, ...more] = prefixItems.map(({ description: _, ...each }: Json) => each)
  const isSame = more.every((each) => JSON.stringify(each) === JSON.stringify(part))
  return { ...others, items: isSame ? part : {} }
}

function withoutNames({ propertyNames: _, ...others }: Json): Json {
  return others
}

function withExclusiveFlag(schema: Json): Json {
  const { exclusiveMinimum } = schema
  return typeof exclusiveMinimum === 'number'
    ? { ...schema, minimum: exclusiveMinimum, exclusiveMinimum: true }
    : schema
}

/** Without a format, generators choose 32 bits for integers, which are too few for times. */
function withSize(schema: Json): Json {
  const { type, maximum = Number.MAX_SAFE_INTEGER } = schema
  return type === 'integer' && Number(maximum) > MAX_INT32 ? { ...schema, format: 'int64' } : schema
}

/** Keywords next to `$ref` are ignored in OpenAPI 3.0. */
function withoutSiblings({ $ref, ...others }: Json): Json {
  if ($ref === undefined) return others
  return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] }
}

/** `nullable` needs a type. Schemas of any type include null, and named schemas next to null are objects. */
function withTypedNull({ nullable, ...others }: Json): Json {
  if (nullable === undefined) return others
  if (others.allOf === undefined && others.type === undefined) return others
  return { type: 'object', ...others, nullable }
}

/** Not all languages know the classes of Unicode. */
function withPortablePattern({ pattern, ...others }: Json): Json {
  return pattern === undefined || String(pattern).includes('\\p{') ? others : { ...others, pattern }
}

/** An object with any fields, where a language without case-sensitive names would have two fields of the same name. */
function withDistinctNames(schema: Json): Json {
  const { properties, required: _, ...others } = schema
  const names = Object.keys(properties ?? {})
  const isDistinct = new Set(names.map((name) => name.toLowerCase())).size === names.length
  return isDistinct ? schema : { ...others, additionalProperties: true }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
