// A subscription of GraphQL for the same data as an example body of /ws.

import { type GraphQLField, type GraphQLOutputType, getNamedType, isObjectType } from 'graphql'
import type { AnyChannel } from '../../stream/channel.ts'
import { graphqlSchema } from '../../stream/graphql/schema.ts'

const FIELDS_MAX = 6
const DEPTH_MAX = 5

/** With some fields of each object. */
export function graphqlSample({ type, example }: AnyChannel): string {
  const field = graphqlSchema().getSubscriptionType()!.getFields()[type]!
  const args = field.args
    .filter(({ name }) => example.request[name] !== undefined && example.request[name] !== null)
    .map(({ name }) => `${name}: ${literal(example.request[name])}`)
  return `subscription {\n  ${type}${args.length === 0 ? '' : `(${args.join(', ')})`}${selection(field.type, '  ', 1)}\n}`
}

function selection(output: GraphQLOutputType, indent: string, depth: number): string {
  const named = getNamedType(output)
  if (!isObjectType(named)) return ''
  const deeper = `${indent}  `
  const shown = Object.values(named.getFields())
    .filter((field) => depth < DEPTH_MAX || !isObjectType(getNamedType(field.type)))
    .slice(0, FIELDS_MAX)
  return ` {\n${shown.map((field) => `${deeper}${field.name}${inside(field, deeper, depth)}`).join('\n')}\n${indent}}`
}

const inside = (field: GraphQLField<unknown, unknown>, indent: string, depth: number) =>
  selection(field.type, indent, depth + 1)

/** JSON, with names in place of keys. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1: ')
}
