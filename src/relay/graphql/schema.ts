// The schema that /graphql serves, made of the catalogue of channels: a subscription for each, its arguments those of the
// body, its type that of the frames.

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

// Scalars beside those of GraphQL. As results they are what the frame has, to the letter.

const Decimal = new GraphQLScalarType({
  name: 'Decimal',
  description: 'An exact decimal number, as a string: "81307.0".',
})

const Json = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any value, as the exchange writes it: what may have fields or kinds that nobody knows yet.',
})

const SafeInt = new GraphQLScalarType<number, unknown>({
  name: 'SafeInt',
  description: 'A whole number below 2^53, as a JSON number: times in Unix milliseconds, heights, ids.',
  parseValue: (value) => {
    if (Number.isSafeInteger(value)) return value as number
    throw new GraphQLError('must be a whole number')
  },
})

const INT_MAX = 2 ** 31 - 1

const FROM_BLOCK = {
  fromBlock: {
    type: SafeInt,
    description: 'The height to begin with: what was from it on comes first, as far as it is held.',
  },
}

/** What a query may ask beside the schema itself. */
export const QUERIES = { channels: CHANNELS.map(({ type }) => type) }

let cachedSchema: GraphQLSchema | null = null

/** Built when it is first asked for, once. */
export function graphqlSchema(): GraphQLSchema {
  cachedSchema ??= schemaOf(CHANNELS)
  return cachedSchema
}

function schemaOf(channels: readonly AnyChannel[]): GraphQLSchema {
  const types = new OutputTypes()
  const fields = channels.map((channel) => [channel.type, fieldOf(channel, types)] as const)
  const description = 'Names of the subscriptions: data come by these alone.'
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
    const isNeeded = required.includes(name) && schema.default === undefined
    return [name, { type: isNeeded ? new GraphQLNonNull(type) : type }] as const
  })
  const isReplayed = channel.source === 'events' && canReplay(channel)
  return {
    type: types.frame(channel.type, jsonSchema(publishedFrame(channel))),
    args: { ...Object.fromEntries(args), ...(isReplayed ? FROM_BLOCK : {}) },
    description: channel.summary,
  }
}

/** As input: what frames and bodies may be before defaults and normal forms. */
function jsonSchema(schema: z.ZodType): JsonSchema {
  // Schemas that differ only in their descriptions are one type.
  const override = ({ jsonSchema: own }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    delete own.description
  }
  return z.toJSONSchema(schema, { io: 'input', override }) as JsonSchema
}

/** The name of a definition that is referred to. */
const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

function inputType(schema: JsonSchema): GraphQLInputType {
  const { type, anyOf, items, minimum = -INT_MAX, maximum = INT_MAX } = schema
  // One thing or a list of such: a list of one may be written as the thing itself, by GraphQL's own rule.
  const options = anyOf?.filter((option) => option.type !== 'null')
  const option = options?.find((one) => one.type === 'array') ?? options?.[0]
  if (option) return inputType(option)
  if (type === 'array' && items) return new GraphQLList(new GraphQLNonNull(inputType(items)))
  if (type === 'string') return GraphQLString
  if (type === 'boolean') return GraphQLBoolean
  if (type === 'number' && schema.enum?.every(Number.isInteger)) return GraphQLInt
  if (type === 'integer') return minimum >= -INT_MAX && maximum <= INT_MAX ? GraphQLInt : SafeInt
  throw new Error(`no argument can be made of ${JSON.stringify(schema)}`)
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

/** Where a type is met: what it is called after. */
interface TypeLocation {
  readonly channel: string
  readonly property: string
}

/** A member of a list of two: where it stands. Plans read it. */
export interface Member {
  readonly index: number
}

/** What the members of lists of two are, by the property that holds these lists. */
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
/** Of the kind that stands for those to come. */
const OTHER_KIND = '^(?!'

/**
 * JSON Schema of what channels publish to types of GraphQL. Invariants: every field is nullable, because what a node writes
 * is passed on as it is; what is open (kinds to come, records, texts or objects) is the scalar JSON; a list of two unlike
 * things is an object with their names; alike objects are one type, whoever shows them.
 */
class OutputTypes {
  readonly #byShape = new Map<string, GraphQLObjectType>()
  readonly #names = new Set<string>()
  readonly #within = new Set<string>()
  #defs: Readonly<Record<string, JsonSchema>> = {}

  /** The type of a channel's frames, without the name of the channel. */
  frame(channel: string, schema: JsonSchema): GraphQLObjectType {
    this.#defs = schema.$defs ?? {}
    const { channel: _, ...properties } = this.#merged(schema.anyOf ?? [schema])
    return new GraphQLObjectType({ name: `${pascal(channel)}Frame`, fields: this.#fields(channel, properties) })
  }

  #of(schema: JsonSchema, place: TypeLocation): GraphQLOutputType {
    const { pattern = '' } = schema
    const type = [schema.type].flat().find((one) => one !== 'null')
    if (schema.$ref !== undefined) return this.#ofNamed(nameIn(schema.$ref), place)
    if (schema.anyOf) return this.#ofUnion(schema.anyOf, place)
    if (type === 'array') return this.#ofList(schema, place)
    if (type === 'object') return this.#ofObject(schema, place)
    if (type === 'string') return DECIMALS.includes(pattern) ? Decimal : GraphQLString
    if (type === 'integer') return SafeInt
    if (type === 'number') return GraphQLFloat
    return type === 'boolean' ? GraphQLBoolean : Json
  }

  /** What holds others of its own kind holds them as JSON. */
  #ofNamed(name: string, place: TypeLocation): GraphQLOutputType {
    if (this.#within.has(name)) return Json
    this.#within.add(name)
    const type = this.#of(this.#defs[name] ?? {}, { ...place, property: name })
    this.#within.delete(name)
    return type
  }

  #ofUnion(all: readonly JsonSchema[], place: TypeLocation): GraphQLOutputType {
    const options = distinct(all.filter(({ type }) => type !== 'null'))
    const [only, other] = options
    if (only && !other) return this.#of(only, place)
    if (options.every(({ type }) => type === 'string')) return GraphQLString
    const objects = options.map((option) => this.#resolved(option))
    if (objects.some((option) => !option.properties || isOther(option))) return Json
    return this.#ofObject({ type: 'object', properties: this.#merged(objects) }, place)
  }

  #ofList({ items, prefixItems }: JsonSchema, place: TypeLocation): GraphQLOutputType {
    if (!prefixItems) return new GraphQLList(this.#of(items || {}, { ...place, property: singular(place.property) }))
    const [first = {}, second] = distinct(prefixItems)
    if (!second) return new GraphQLList(this.#of(first, { ...place, property: singular(place.property) }))
    const names = PAIRS[place.property] ?? PAIRS[`${place.property}s`]
    if (!names || prefixItems.length !== 2) throw new Error(`${place.channel}: ${place.property} needs names of a pair`)
    const fields = names.map((name, member) => {
      const extensions: Member = { index: member }
      const type = this.#of(prefixItems[member] ?? {}, { ...place, property: name })
      const resolve = (pair: unknown) => (pair as readonly unknown[])[member]
      return [name, { type, extensions: { ...extensions }, resolve }] as const
    })
    return this.#object(place, `${pascal(names[1])}Of${pascal(names[0])}`, Object.fromEntries(fields))
  }

  #ofObject({ properties = {} }: JsonSchema, place: TypeLocation): GraphQLOutputType {
    const names = Object.keys(properties)
    if (names.length === 0 || !names.every((name) => NAME.test(name))) return Json
    return this.#object(place, pascal(place.property), this.#fields(place.channel, properties))
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
    const listed = Object.entries(fields).map(
      ([field, { type, extensions }]) => `${field}: ${type} ${JSON.stringify(extensions)}`,
    )
    const shape = listed.sort().join()
    const known = this.#byShape.get(shape)
    if (known) return known
    const own = [name, pascal(channel) + name].find((one) => !this.#names.has(one) && one !== 'Data')
    if (own === undefined) throw new Error(`${channel}: there is another ${name}`)
    this.#names.add(own)
    const type = new GraphQLObjectType({ name: own, fields })
    this.#byShape.set(shape, type)
    return type
  }

  #resolved(schema: JsonSchema): JsonSchema {
    return schema.$ref === undefined ? schema : (this.#defs[nameIn(schema.$ref)] ?? {})
  }

  /** All properties that one of these objects has. */
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

/** It stands for kinds that are not known yet. */
function isOther({ properties }: JsonSchema): boolean {
  return Object.values(properties ?? {}).some(({ pattern }) => pattern?.startsWith(OTHER_KIND))
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function singular(name: string): string {
  return name.replace(/(us)es$|([^s])s$/, '$1$2')
}
