// The schema that /graphql serves, made of the catalogue of channels: a subscription for each, its arguments those of the
// body, its type that of the frames.

import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'
import * as z from 'zod'
import { CHANNELS } from '../catalogue.ts'
import { type AnyChannel, isToldAgain, publishedFrame } from '../channel.ts'
import { type JsonSchema, OutputTypes } from './output-types.ts'
import { SafeInt } from './scalars.ts'

const INT_MAX = 2 ** 31 - 1

const FROM_BLOCK = {
  fromBlock: {
    type: SafeInt,
    description: 'The height to begin with: what was from it on comes first, as far as it is held.',
  },
}

/** What a query may ask beside the schema itself. */
export const QUERIES = { channels: CHANNELS.map(({ type }) => type) }

let built: GraphQLSchema | null = null

/** Built when it is first asked for, once. */
export function graphqlSchema(): GraphQLSchema {
  built ??= schemaOf(CHANNELS)
  return built
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
    const type = inputOf(schema)
    const isNeeded = required.includes(name) && schema.default === undefined
    return [name, { type: isNeeded ? new GraphQLNonNull(type) : type }] as const
  })
  const isReplayed = channel.source === 'events' && isToldAgain(channel)
  return {
    type: types.frame(channel.type, jsonSchema(publishedFrame(channel))),
    args: { ...Object.fromEntries(args), ...(isReplayed ? FROM_BLOCK : {}) },
    description: channel.summary,
  }
}

/** As input: what frames and bodies may be before defaults and normal forms. */
function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
}

function inputOf(schema: JsonSchema): GraphQLInputType {
  const { type, anyOf, items, minimum = -INT_MAX, maximum = INT_MAX } = schema
  // One thing or a list of such: a list of one may be written as the thing itself, by GraphQL's own rule.
  const options = anyOf?.filter((option) => option.type !== 'null')
  if (options) return inputOf(options.find((option) => option.type === 'array') ?? options[0]!)
  if (type === 'array' && items) return new GraphQLList(new GraphQLNonNull(inputOf(items)))
  if (type === 'string') return GraphQLString
  if (type === 'boolean') return GraphQLBoolean
  if (type === 'number' && schema.enum?.every(Number.isInteger)) return GraphQLInt
  if (type === 'integer') return minimum >= -INT_MAX && maximum <= INT_MAX ? GraphQLInt : SafeInt
  throw new Error(`no argument can be made of ${JSON.stringify(schema)}`)
}
