// GraphQL documents with some fields of each object, as a start.

import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'

const FIELDS_MAX = 6
const DEPTH_MAX = 5

/** A subscription; `args`: values by name, as GraphQL literals. */
export function subscriptionText({ name, type }: Field, args: Readonly<Record<string, string>>): string {
  const list = Object.entries(args).map(([arg, value]) => `${arg}: ${value}`)
  return `subscription {\n  ${name}${list.length === 0 ? '' : `(${list.join(', ')})`}${selection(type, '  ', 1)}\n}`
}

type Field = Pick<GraphQLField<unknown, unknown>, 'name' | 'type' | 'args'>

const ADDRESS = `"0x${'0'.repeat(40)}"`
/** Values of required arguments, by name. */
const VALUES: Readonly<Record<string, string>> = { coin: '"BTC"', interval: '"1m"', user: ADDRESS, builder: ADDRESS }

/** A subscription with values for its coin, its user and each required argument; null if there is no such field. */
export function firstSubscription(schema: GraphQLSchema, name: string): string | null {
  const field = schema.getSubscriptionType()?.getFields()[name]
  if (field === undefined) return null
  const filled = field.args.filter((arg) => isRequiredArgument(arg) || ['coin', 'user'].includes(arg.name))
  return subscriptionText(field, Object.fromEntries(filled.map((arg) => [arg.name, VALUES[arg.name] ?? '""'])))
}

function selection(output: GraphQLOutputType, indent: string, depth: number): string {
  const named = getNamedType(output)
  if (!isObjectType(named)) return ''
  const deeper = `${indent}  `
  const shown = Object.values(named.getFields())
    .filter((field) => depth < DEPTH_MAX || !isObjectType(getNamedType(field.type)))
    .slice(0, FIELDS_MAX)
  return ` {\n${shown.map((field) => `${deeper}${field.name}${selection(field.type, deeper, depth + 1)}`).join('\n')}\n${indent}}`
}
