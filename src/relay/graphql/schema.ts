// The GraphQL schema, built from the channel catalogue: one subscription per channel, with the body's fields as
// arguments and the frame's schema as type.

import {
  GraphQLBoolean,
  GraphQLError,
  type GraphQLFieldConfig,
  GraphQLFloat,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'
import * as z from 'zod'
import { DECIMAL, UNSIGNED_DECIMAL } from '../../core/decimal.ts'
import { type AnyChannel, canReplay, publishedFrame } from '../channel.ts'
import { CHANNELS } from '../channels/catalogue.ts'

// Custom scalars. Results contain the frame's values unchanged.

const Decimal = new GraphQLScalarType({
  name: 'Decimal',
  description: 'Exact decimal number as a string, such as "81307.0".',
})

const Json = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value as the exchange writes it, including fields and kinds that are not documented yet.',
})

const SafeInt = new GraphQLScalarType<number, unknown>({
  name: 'SafeInt',
  description: 'Integer below 2^53 as a JSON number: times in Unix milliseconds, heights, ids.',
  parseValue: (value) => {
    if (Number.isSafeInteger(value)) return value as number
    throw new GraphQLError('must be a whole number')
  },
})

const INT_MAX = 2 ** 31 - 1

const FROM_BLOCK = {
  fromBlock: {
    type: SafeInt,
    description: 'Height of the first block. Earlier blocks are sent first if the gateway still has them.',
  },
}

/** The root value of queries. */
export const QUERIES = { channels: CHANNELS.map(({ type }) => type) }

let cachedSchema: GraphQLSchema | null = null

/** Built on first use. */
export function graphqlSchema(): GraphQLSchema {
  cachedSchema ??= schemaOf(CHANNELS)
  return cachedSchema
}

function schemaOf(channels: readonly AnyChannel[]): GraphQLSchema {
  const types = new OutputTypes()
  const fields = channels.map((channel) => [channel.type, fieldOf(channel, types)] as const)
  const description = 'Names of the subscriptions, which carry all data.'
  const names = { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))), description }
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { channels: names } }),
    subscription: new GraphQLObjectType({ name: 'Subscription', fields: Object.fromEntries(fields) }),
  })
}

function fieldOf(channel: AnyChannel, types: OutputTypes): GraphQLFieldConfig<unknown, unknown> {
  const { properties: all, required = [] } = jsonSchema(channel.request)
  const { type: _, ...properties } = all ?? {}
  const args = Object.entries(properties).map(([name, schema]) => {
    const type = inputType(schema)
    const isRequired = required.includes(name) && schema.default === undefined
    return [name, { type: isRequired ? new GraphQLNonNull(type) : type }] as const
  })
  const supportsReplay = channel.source === 'events' && canReplay(channel)
  return {
    type: types.frame(channel.type, jsonSchema(publishedFrame(channel))),
    args: { ...Object.fromEntries(args), ...(supportsReplay ? FROM_BLOCK : {}) },
    description: channel.summary,
  }
}

/** JSON Schema of the values that a schema accepts, before it applies defaults and transformations. */
function jsonSchema(schema: z.ZodType): JsonSchema {
  // Schemas that differ only in descriptions become one type.
  const override = ({ jsonSchema: available }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    delete available.description
  }
  return z.toJSONSchema(schema, { io: 'input', override }) as JsonSchema
}

/** Name of a referenced definition. */
const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

function inputType(schema: JsonSchema): GraphQLInputType {
  const { type, anyOf, items, minimum = -INT_MAX, maximum = INT_MAX } = schema
  // A value or a list of values: GraphQL itself accepts a single value as a list of one.
  const options = anyOf?.filter((option) => option.type !== 'null')
  const option = options?.find((one) => one.type === 'array') ?? options?.[0]
  if (option) return inputType(option)
  if (type === 'array' && items) return new GraphQLList(new GraphQLNonNull(inputType(items)))
  if (type === 'string') return GraphQLString
  if (type === 'boolean') return GraphQLBoolean
  if (type === 'number' && schema.enum?.every(Number.isInteger)) return GraphQLInt
  if (type === 'integer') return minimum >= -INT_MAX && maximum <= INT_MAX ? GraphQLInt : SafeInt
  throw new Error(`unsupported argument schema ${JSON.stringify(schema)}`)
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly $ref?: string
  readonly pattern?: string
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema | false
  readonly prefixItems?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** Location of a type, from which its name is derived. */
interface TypeLocation {
  readonly channel: string
  readonly property: string
}

/** Position of a field in a pair. Plans read it. */
export interface Member {
  readonly index: number
}

/** Names of the fields of a pair, by the property that holds the pairs. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  fills: ['user', 'fill'],
  ctxs: ['dex', 'ctxs'],
  clearinghouseStates: ['dex', 'clearinghouseState'],
  states: ['twapId', 'state'],
  twapStates: ['twapId', 'state'],
  marginTables: ['id', 'marginTable'],
  tokenToPortfolioBorrowRatio: ['token', 'amount'],
  tokenToPortfolioSupplyRatio: ['token', 'amount'],
  tokenToAvailableAfterMaintenance: ['token', 'amount'],
}

const NAME = /^(?!__)[_A-Za-z]\w*$/
const DECIMALS = [DECIMAL.source, UNSIGNED_DECIMAL.source]
/** Prefix of the patterns that mark placeholders for unknown kinds. */
const OTHER_KIND = '^(?!'

/**
 * Converts the JSON Schema of frames to GraphQL types. Invariants: every field is nullable, because node data is passed
 * on unchanged; open data (unknown kinds, records, mixed values) is the scalar JSON; a pair is an object with named
 * fields; equal objects share one type.
 */
class OutputTypes {
  readonly #byShape = new Map<string, GraphQLObjectType>()
  readonly #names = new Set<string>()
  readonly #within = new Set<string>()
  #defs: Readonly<Record<string, JsonSchema>> = {}

  /** The type of a channel's frames, without `channel`. */
  frame(channel: string, schema: JsonSchema): GraphQLObjectType {
    this.#defs = schema.$defs ?? {}
    const { channel: _, ...properties } = this.#merged(schema.anyOf ?? [schema])
    return new GraphQLObjectType({ name: `${pascal(channel)}Frame`, fields: this.#fields(channel, properties) })
  }

  #of(schema: JsonSchema, location: TypeLocation): GraphQLOutputType {
    const { pattern = '' } = schema
    const type = [schema.type].flat().find((one) => one !== 'null')
    if (schema.$ref !== undefined) return this.#ofNamed(nameIn(schema.$ref), location)
    if (schema.anyOf) return this.#ofUnion(schema.anyOf, location)
    if (type === 'array') return this.#ofList(schema, location)
    if (type === 'object') return this.#ofObject(schema, location)
    if (type === 'string') return DECIMALS.includes(pattern) ? Decimal : GraphQLString
    if (type === 'integer') return SafeInt
    if (type === 'number') return GraphQLFloat
    return type === 'boolean' ? GraphQLBoolean : Json
  }

  /** If a type contains itself, the inner value has the type JSON. */
  #ofNamed(name: string, location: TypeLocation): GraphQLOutputType {
    if (this.#within.has(name)) return Json
    this.#within.add(name)
    const type = this.#of(this.#defs[name] ?? {}, { ...location, property: name })
    this.#within.delete(name)
    return type
  }

  #ofUnion(all: readonly JsonSchema[], location: TypeLocation): GraphQLOutputType {
    const options = distinct(all.filter(({ type }) => type !== 'null'))
    const [only, other] = options
    if (only && !other) return this.#of(only, location)
    if (options.every(({ type }) => type === 'string')) return GraphQLString
    const objects = options.map((option) => this.#resolved(option))
    if (objects.some((option) => !option.properties || isOther(option))) return Json
    return this.#ofObject({ type: 'object', properties: this.#merged(objects) }, location)
  }

  #ofList({ items, prefixItems }: JsonSchema, location: TypeLocation): GraphQLOutputType {
    if (!prefixItems)
      return new GraphQLList(this.#of(items || {}, { ...location, property: singular(location.property) }))
    const [first = {}, second] = distinct(prefixItems)
    if (!second) return new GraphQLList(this.#of(first, { ...location, property: singular(location.property) }))
    const names = PAIRS[location.property] ?? PAIRS[`${location.property}s`]
    if (!names || prefixItems.length !== 2)
      throw new Error(`${location.channel}: ${location.property} needs an entry in PAIRS`)
    const fields = names.map((name, member) => {
      const extensions: Member = { index: member }
      const type = this.#of(prefixItems[member] ?? {}, { ...location, property: name })
      const resolve = (pair: unknown) => (pair as readonly unknown[])[member]
      return [name, { type, extensions: { ...extensions }, resolve }] as const
    })
    return this.#object(location, `${pascal(names[1])}Of${pascal(names[0])}`, Object.fromEntries(fields))
  }

  #ofObject({ properties = {} }: JsonSchema, location: TypeLocation): GraphQLOutputType {
    const names = Object.keys(properties)
    if (names.length === 0 || !names.every((name) => NAME.test(name))) return Json
    return this.#object(location, pascal(location.property), this.#fields(location.channel, properties))
  }

  #fields(channel: string, properties: Readonly<Record<string, JsonSchema>>) {
    const fields = Object.entries(properties).map(([property, schema]) => {
      return [property, { type: this.#of(schema, { channel, property }) }] as const
    })
    return Object.fromEntries(fields)
  }

  #object(
    { channel }: TypeLocation,
    name: string,
    fields: Readonly<Record<string, GraphQLFieldConfig<unknown, unknown>>>,
  ): GraphQLObjectType {
    const signatures = Object.entries(fields).map(
      ([field, { type, extensions }]) => `${field}: ${type} ${JSON.stringify(extensions)}`,
    )
    const shape = signatures.sort().join()
    const known = this.#byShape.get(shape)
    if (known) return known
    const available = [name, pascal(channel) + name].find((one) => !this.#names.has(one) && one !== 'Data')
    if (available === undefined) throw new Error(`${channel}: duplicate type ${name}`)
    this.#names.add(available)
    const type = new GraphQLObjectType({ name: available, fields })
    this.#byShape.set(shape, type)
    return type
  }

  #resolved(schema: JsonSchema): JsonSchema {
    return schema.$ref === undefined ? schema : (this.#defs[nameIn(schema.$ref)] ?? {})
  }

  /** Union of the properties of these objects. */
  #merged(objects: readonly JsonSchema[]): Record<string, JsonSchema> {
    const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})))
    const merged = [...names].map((name) => {
      const anyOf = distinct(objects.flatMap(({ properties }) => properties?.[name] ?? []))
      return [name, (anyOf.length === 1 && anyOf[0]) || { anyOf }] as const
    })
    return Object.fromEntries(merged)
  }
}

function distinct(schemas: readonly JsonSchema[]): JsonSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}

/** True for a placeholder for unknown kinds. */
function isOther({ properties }: JsonSchema): boolean {
  return Object.values(properties ?? {}).some(({ pattern }) => pattern?.startsWith(OTHER_KIND))
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function singular(name: string): string {
  return name.replace(/(us)es$|([^s])s$/, '$1$2')
}
