// Parses the payload of a subscribe message. The result is a channel subscription with a projection plan for its
// frames, or the response to a schema query. Invariants: the size of a document is checked before its validation, which
// takes quadratic time in the number of fields; errors name their position and cause, and are free.

import {
  type DocumentNode,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLObjectType,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
  visit,
} from 'graphql'
import { BoundedMap } from '../../core/bounded-map.ts'
import { inGroups } from '../../core/digit-groups.ts'
import { nearestName, normalizedName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import { echoOf, type Target } from '../channel.ts'
import { readBody } from '../channels/catalogue.ts'
import { collect, type Plan, planOf, readPlan, type SelectionContext } from './plan.ts'
import { graphqlSchema, QUERIES } from './schema.ts'

export interface Payload {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
}

export interface SubscriptionRequest {
  readonly kind: 'subscription'
  /** The `subscription` of the equivalent frame on /ws. */
  readonly body: { readonly type: string } & Readonly<Record<string, unknown>>
  readonly target: Target
  /** JSON of the body, which identifies the subscription within its channel. */
  readonly echo: string
  /** Name of the field in results. */
  readonly alias: string
  readonly plan: Plan
  /** True if frames must include their block height and time. */
  readonly meta: boolean
  readonly fromBlock: number | undefined
}
/** Data that is saved with the echo to restore an operation after hibernation. */
export interface SavedOperation {
  readonly alias: string
  readonly key: string
}
/** JSON of a query result. */
export interface QueryResult {
  readonly kind: 'query'
  readonly text: string
}
type DocumentErrors = readonly GraphQLFormattedError[]

const MAX_TOKENS = 2_000
const MAX_ERRORS = 5
/** Variables checked for misspelled names. */
const MAX_VARIABLES = 16
/** Maximum length of an error message, which may contain names and values from the client. */
const MAX_MESSAGE_CHARS = 500
/**
 * Total length of cached valid documents, which many clients share. A parsed document takes at least 100 bytes per
 * character.
 */
const CACHE_CHARS = 64 * 1024
const VALID_DOCUMENTS = new BoundedMap<string, DocumentNode>(CACHE_CHARS, (_, query) => query.length)

/** Parses client input. Invalid input is returned as an error, never thrown. */
export function readDocument({
  query,
  variables,
  operationName,
}: Payload): Result<SubscriptionRequest | QueryResult, DocumentErrors> {
  try {
    const schema = graphqlSchema()
    const valid = validDocument(query)
    if (!valid.ok) return err(valid.error.map(formatted))
    const document = valid.value
    const operation = getOperationAST(document, operationName)
    if (!operation) return rejected(`operationName: ${WHICH_OPERATION}`)
    const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {}, {
      maxErrors: MAX_ERRORS,
    })
    if (coerced.errors) return err(coerced.errors.map(formatted))
    if (operation.operation === 'subscription') {
      const stray = strayVariable(document, operation, variables ?? {})
      return stray === null ? subscriptionRequest(document, operation, coerced.coerced) : rejected(stray)
    }
    if (operation.operation === 'mutation') return rejected('Mutations are not supported. Send a subscription.')
    return ok({ kind: 'query', text: executeQuery(document, variables, operationName) })
  } catch (error) {
    if (error instanceof GraphQLError) return err([formatted(error)])
    // The parser and the value checks recurse once per nesting level.
    if (error instanceof RangeError) return rejected('The document is nested too deeply.')
    throw error
  }
}

/** Throws on a syntax error. */
function validDocument(query: string): Result<DocumentNode, readonly GraphQLError[]> {
  const known = VALID_DOCUMENTS.get(query)
  if (known) return ok(known)
  const document = parse(query, { maxTokens: MAX_TOKENS })
  const errors = sizeErrors(document)
  if (errors.length === 0) errors.push(...validate(graphqlSchema(), document, undefined, { maxErrors: MAX_ERRORS }))
  if (errors.length > 0) return err(errors)
  VALID_DOCUMENTS.set(query, document)
  return ok(document)
}

/**
 * Error for an undeclared variable whose name resembles an argument or a declared variable that was not sent. Ignoring
 * it would change the subscription. Other undeclared variables are ignored, as GraphQL specifies.
 */
function strayVariable(
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
): string | null {
  const declared = variableDefinitions.map(({ variable }) => variable.name.value)
  const unsent = declared.filter((name) => !Object.hasOwn(sent, name))
  for (const name of Object.keys(sent).slice(0, MAX_VARIABLES)) {
    if (declared.includes(name)) continue
    const nearest = nearestName(name, unsent)
    const quoted = JSON.stringify(name.slice(0, 64))
    if (nearest !== undefined) return `variables: ${quoted} is not declared. Did you mean "${nearest}"?`
    if (argumentNames(document).has(normalizedName(name)))
      return `variables: ${quoted} is not declared. Declare it and pass it to the field.`
  }
  return null
}

/** Normalized argument names of all subscriptions in the document. */
function argumentNames({ definitions }: DocumentNode): ReadonlySet<string> {
  const fields = definitions.flatMap((one) => ('selectionSet' in one ? (one.selectionSet?.selections ?? []) : []))
  const names = fields.flatMap((one) => (one.kind === Kind.FIELD ? (fieldOf(one.name.value)?.args ?? []) : []))
  return new Set(names.map(({ name }) => normalizedName(name)))
}

const WHICH_OPERATION = 'must name one operation of the document'

function subscriptionRequest(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Result<SubscriptionRequest, DocumentErrors> {
  const definitions = document.definitions.flatMap((one) =>
    one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
  )
  const selecting: SelectionContext = { fragments: Object.fromEntries(definitions), variables }
  const roots = new Map<string, FieldNode[]>()
  collect(operation.selectionSet, selecting, roots, new Set())
  const [root, second] = Array.from(roots)
  if (!root || second) return rejected('A subscription must have exactly one root field.')
  const [alias, nodes] = root
  const [node] = nodes
  const type = node?.name.value ?? ''
  const field = fieldOf(type)
  if (!node || !field) return rejected(`Unknown subscription ${type}.`)
  const { fromBlock, ...args } = getArgumentValues(field, node, variables)
  if (typeof fromBlock === 'number' && fromBlock < 0)
    return rejected('fromBlock: must be a block height of 0 or more', [alias])
  const body = { type, ...argumentsOf(args) }
  const read = readBody(body)
  if (!read.ok) return rejected(`${read.error.path}: ${read.error.message}`, [alias])
  const target = read.value
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const plan = planOf(getNamedType(field.type) as GraphQLObjectType, selections, selecting)
  return ok({
    kind: 'subscription',
    body,
    target,
    alias,
    plan,
    echo: JSON.stringify(echoOf(body, target)),
    meta: target.source === 'events' && selectsBlock(plan),
    fromBlock: typeof fromBlock === 'number' ? fromBlock : undefined,
  })
}

/** Restores a request after hibernation; null if it is no longer valid. */
export function restoreRequest(
  { alias, key }: SavedOperation,
  echo: string,
): Pick<SubscriptionRequest, 'alias' | 'plan' | 'echo' | 'target'> | null {
  try {
    const body = JSON.parse(echo) as SubscriptionRequest['body']
    const read = readBody(body)
    const field = fieldOf(body.type)
    if (!read.ok || !field) return null
    return { alias, echo, target: read.value, plan: readPlan(getNamedType(field.type) as GraphQLObjectType, key) }
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}

function fieldOf(type: string) {
  return graphqlSchema().getSubscriptionType()?.getFields()[type]
}

/** Converts arguments to a /ws body: nulls are omitted, and a single-coin list becomes the coin. */
function argumentsOf(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const coerced = Object.entries(args).filter(([, value]) => value !== null)
  return Object.fromEntries(coerced.map(([name, value]) => [name, name === 'coin' ? unwrapSingle(value) : value]))
}

function unwrapSingle(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

/** Whether the plan selects the block's height or time, which event frames include only on request. */
function selectsBlock({ positions, fields }: Plan): boolean {
  const isSaid = positions.has('block_height') || positions.has('time')
  const data = fields[positions.get('data') ?? -1]
  return isSaid || (data?.lists === 0 && data.plan?.positions.has('block_height') === true)
}

function executeQuery(
  document: DocumentNode,
  variables: Payload['variables'],
  operationName: Payload['operationName'],
) {
  // Resolvers are synchronous.
  const result = execute({
    schema: graphqlSchema(),
    document,
    rootValue: QUERIES,
    variableValues: variables ?? {},
    operationName: operationName ?? null,
  })
  return JSON.stringify(result)
}

function formatted({ message, locations, path }: GraphQLError): GraphQLFormattedError {
  const extensions = { code: 'INVALID_REQUEST' }
  return {
    message: visible(message.slice(0, MAX_MESSAGE_CHARS)),
    ...(locations && { locations }),
    ...(path && { path }),
    extensions,
  }
}

function rejected(message: string, path?: readonly string[]): Result<never, DocumentErrors> {
  return err([{ message, ...(path && { path }), extensions: { code: 'INVALID_REQUEST' } }])
}

const MAX_FIELDS = 400
/** Maximum number of fields with the same response name, because validation compares every two of them. */
const MAX_SAME_NAME = 40
const MAX_DEFINITIONS = 50
const MAX_DEPTH = 16
/** Maximum length of an alias, because each result repeats it. */
const MAX_ALIAS_CHARS = 64
/** Maximum number of fields with all fragments expanded. */
const MAX_EXPANDED_FIELDS = 2_000
/**
 * Introspection fields that return lists. Nested lists multiply the size of the result. The usual introspection query
 * has nine of them.
 */
const SCHEMA_LISTS: ReadonlySet<string> = new Set([
  ...['types', 'directives', 'fields', 'args', 'inputFields', 'interfaces', 'enumValues', 'possibleTypes'],
])
const MAX_LISTS = 12
/**
 * Maximum number of aliases in a query with schema lists, because each list item repeats them. The usual introspection
 * query has no aliases.
 */
const MAX_ALIASES = 12

/** Size of a fragment or operation. */
interface Size {
  fields: number
  lists: number
  aliases: number
  readonly spreads: string[]
}

/**
 * Checks the size of a document before validation and returns the errors. Invariant: the check takes one pass for any
 * document, and validation of an accepted document takes a few milliseconds.
 */
function sizeErrors(document: DocumentNode): GraphQLError[] {
  const sizes = new Map<string, Size>()
  const alike = new Map<string, number>()
  let current = emptySize()
  let depth = 0
  let deepest = 0
  let fields = 0
  let longest = 0
  let maxSameName = 0
  const count = ({ name, alias }: FieldNode) => {
    const called = (alias ?? name).value
    const same = (alike.get(called) ?? 0) + 1
    alike.set(called, same)
    maxSameName = Math.max(maxSameName, same)
    longest = Math.max(longest, alias?.value.length ?? 0)
    current.fields++
    fields++
    if (alias) current.aliases++
    if (SCHEMA_LISTS.has(name.value)) current.lists++
  }
  visit(document, {
    enter: (node) => {
      if (node.kind === Kind.SELECTION_SET) deepest = Math.max(deepest, ++depth)
      else if (node.kind === Kind.FRAGMENT_SPREAD) current.spreads.push(node.name.value)
      else if (node.kind === Kind.FIELD) count(node)
      else if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) {
        current = emptySize()
        sizes.set(node.kind === Kind.FRAGMENT_DEFINITION ? node.name.value : `operation ${sizes.size}`, current)
      }
    },
    leave: (node) => {
      if (node.kind === Kind.SELECTION_SET) depth--
    },
  })
  const exceeded: string[] = []
  if (fields > MAX_FIELDS) exceeded.push(`at most ${MAX_FIELDS} fields, counting each alias`)
  if (maxSameName > MAX_SAME_NAME) exceeded.push(`at most ${MAX_SAME_NAME} fields with the same name`)
  if (longest > MAX_ALIAS_CHARS) exceeded.push(`aliases of at most ${MAX_ALIAS_CHARS} characters`)
  if (sizes.size > MAX_DEFINITIONS) exceeded.push(`at most ${MAX_DEFINITIONS} fragments and operations`)
  if (deepest > MAX_DEPTH) exceeded.push(`at most ${MAX_DEPTH} levels`)
  const spread = expandedSizes(sizes)
  if (spread.some((size) => size.fields > MAX_EXPANDED_FIELDS))
    exceeded.push(`at most ${inGroups(MAX_EXPANDED_FIELDS)} fields with fragments expanded`)
  if (spread.some((size) => size.lists > MAX_LISTS))
    exceeded.push(`at most ${MAX_LISTS} uses of ${[...SCHEMA_LISTS].join(', ')}`)
  if (spread.some((size) => size.lists > 0 && size.aliases > MAX_ALIASES))
    exceeded.push(`at most ${MAX_ALIASES} aliases in introspection queries`)
  return exceeded.map((bound) => new GraphQLError(`The document is too large. It may have ${bound}.`))
}

const emptySize = (): Size => ({ fields: 0, lists: 0, aliases: 0, spreads: [] })

/** Size of each definition with its fragments expanded. A cycle, which validation rejects, counts once. */
function expandedSizes(sizes: ReadonlyMap<string, Size>): Size[] {
  const known = new Map<string, Size>()
  const sizeOf = (name: string): Size => {
    const size = known.get(name)
    if (size) return size
    known.set(name, emptySize())
    const total = { ...emptySize(), ...sizes.get(name) }
    for (const { fields, lists, aliases } of total.spreads.map(sizeOf)) {
      total.fields += fields
      total.lists += lists
      total.aliases += aliases
    }
    known.set(name, total)
    return total
  }
  return [...sizes.keys()].map(sizeOf)
}
