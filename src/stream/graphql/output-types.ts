// JSON Schema of what channels publish → types of GraphQL. Laws: every field is nullable, because what a node writes is
// passed on as it is; what is open (kinds to come, records, texts or objects) is the scalar JSON; a list of two unlike
// things is an object with their names; alike objects are one type, whoever shows them.

import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
} from 'graphql'
import { DECIMAL, UNSIGNED_DECIMAL } from '../../core/decimal.ts'
import { Decimal, Json, SafeInt } from './scalars.ts'

export interface JsonSchema {
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
interface Place {
  readonly channel: string
  readonly property: string
}

/** A member of a list of two: where it stands. Plans read it. */
export interface Member {
  readonly member: number
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

/** Named types of one schema. */
export class OutputTypes {
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

  #of(schema: JsonSchema, place: Place): GraphQLOutputType {
    const { pattern = '' } = schema
    const type = [schema.type].flat().find((one) => one !== 'null')
    if (schema.$ref !== undefined) return this.#ofNamed(schema.$ref.split('/').at(-1)!, place)
    if (schema.anyOf) return this.#ofUnion(schema.anyOf, place)
    if (type === 'array') return this.#ofList(schema, place)
    if (type === 'object') return this.#ofObject(schema, place)
    if (type === 'string') return DECIMALS.includes(pattern) ? Decimal : GraphQLString
    if (type === 'integer') return SafeInt
    if (type === 'number') return GraphQLFloat
    return type === 'boolean' ? GraphQLBoolean : Json
  }

  /** What holds others of its own kind holds them as JSON. */
  #ofNamed(name: string, place: Place): GraphQLOutputType {
    if (this.#within.has(name)) return Json
    this.#within.add(name)
    const type = this.#of(this.#defs[name]!, { ...place, property: name })
    this.#within.delete(name)
    return type
  }

  #ofUnion(all: readonly JsonSchema[], place: Place): GraphQLOutputType {
    const options = distinct(all.filter(({ type }) => type !== 'null'))
    if (options.length === 1) return this.#of(options[0]!, place)
    if (options.every(({ type }) => type === 'string')) return GraphQLString
    const objects = options.map((option) => this.#resolved(option))
    if (objects.some((option) => !option.properties || isOther(option))) return Json
    return this.#ofObject({ type: 'object', properties: this.#merged(objects) }, place)
  }

  #ofList({ items, prefixItems }: JsonSchema, place: Place): GraphQLOutputType {
    if (!prefixItems) return new GraphQLList(this.#of(items || {}, { ...place, property: singular(place.property) }))
    const [first, second] = distinct(prefixItems)
    if (!second) return new GraphQLList(this.#of(first!, { ...place, property: singular(place.property) }))
    const names = PAIRS[place.property] ?? PAIRS[`${place.property}s`]
    if (!names || prefixItems.length !== 2) throw new Error(`${place.channel}: ${place.property} needs names of a pair`)
    const fields = names.map((name, member) => {
      const extensions: Member = { member }
      const type = this.#of(prefixItems[member]!, { ...place, property: name })
      const resolve = (pair: unknown) => (pair as readonly unknown[])[member]
      return [name, { type, extensions: { ...extensions }, resolve }] as const
    })
    return this.#object(place, `${pascal(names[1])}Of${pascal(names[0])}`, Object.fromEntries(fields))
  }

  #ofObject({ properties = {} }: JsonSchema, place: Place): GraphQLOutputType {
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
    { channel }: Place,
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
    return schema.$ref === undefined ? schema : this.#defs[schema.$ref.split('/').at(-1)!]!
  }

  /** All properties that one of these objects has. */
  #merged(objects: readonly JsonSchema[]): Record<string, JsonSchema> {
    const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})))
    const merged = [...names].map((name) => {
      const anyOf = distinct(objects.flatMap(({ properties }) => properties?.[name] ?? []))
      return [name, anyOf.length === 1 ? anyOf[0]! : { anyOf }] as const
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
