// From the payload of a subscribe to what it asks for: a subscription to a channel with a plan of what is taken of its
// frames, or a query of the schema. Laws: a document is bounded before it is validated, which may take the square of its
// fields; what is refused says where and why, and costs nothing.

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

/** A subscription to a channel. */
export interface SubscriptionRequest {
  readonly kind: 'subscription'
  /** `subscription` of the frame that asks for the same on /ws. */
  readonly body: { readonly type: string } & Readonly<Record<string, unknown>>
  readonly target: Target
  /** JSON of the body as the channel identifies it. */
  readonly echo: string
  /** What the field is called in results. */
  readonly alias: string
  readonly plan: Plan
  /** Frames are to say which block they are of. */
  readonly meta: boolean
  readonly fromBlock: number | undefined
}
/** What is kept of one beside its echo, to go on after a sleep. */
export interface SavedOperation {
  readonly alias: string
  readonly key: string
}
/** JSON of the answer to a query of the schema. */
export interface QueryResult {
  readonly kind: 'query'
  readonly text: string
}
type DocumentErrors = readonly GraphQLFormattedError[]

const MAX_TOKENS = 2_000
const MAX_ERRORS = 5
/** Names of variables that are looked at for slips. */
const MAX_VARIABLES = 16
/** Names and values of the client's stand in what it is told. */
const MAX_MESSAGE_CHARS = 500
/** Characters of the valid documents that are kept, of which many clients send the same. Parsed, each takes 100 bytes and more. */
const CACHE_CHARS = 64 * 1024
const VALID_DOCUMENTS = new BoundedMap<string, DocumentNode>(CACHE_CHARS, (_, query) => query.length)

/** Of what clients sent: what is wrong is refused, and throws nothing. */
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
    const given = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {}, {
      maxErrors: MAX_ERRORS,
    })
    if (given.errors) return err(given.errors.map(formatted))
    if (operation.operation === 'subscription') {
      const stray = strayVariable(document, operation, variables ?? {})
      return stray === null ? subscriptionRequest(document, operation, given.coerced) : rejected(stray)
    }
    if (operation.operation === 'mutation') return rejected('There are no mutations: send a subscription.')
    return ok({ kind: 'query', text: executeQuery(document, variables, operationName) })
  } catch (error) {
    if (error instanceof GraphQLError) return err([formatted(error)])
    // The parser, and what looks at values, call themselves for each level.
    if (error instanceof RangeError) return rejected('The document is nested too deep.')
    throw error
  }
}

/** Throws where it cannot be parsed. */
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
 * What is wrong with a variable that a subscription does not declare though it reads like an argument, or like a variable that
 * was not sent: without it the subscription would be another one. Others are ignored, as GraphQL has it.
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
    const meant = nearestName(name, unsent)
    const shown = JSON.stringify(name.slice(0, 64))
    if (meant !== undefined) return `variables: ${shown} is not declared; did you mean "${meant}"?`
    if (argumentNames(document).has(normalizedName(name)))
      return `variables: ${shown} is not declared: declare it, and pass it to the field.`
  }
  return null
}

/** Of all subscriptions that stand in the document, folded. */
function argumentNames({ definitions }: DocumentNode): ReadonlySet<string> {
  const fields = definitions.flatMap((one) => ('selectionSet' in one ? (one.selectionSet?.selections ?? []) : []))
  const names = fields.flatMap((one) => (one.kind === Kind.FIELD ? (fieldOf(one.name.value)?.args ?? []) : []))
  return new Set(names.map(({ name }) => normalizedName(name)))
}

const WHICH_OPERATION = 'must name one operation of the document, which has several or none'

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
  if (!root || second) return rejected('A subscription has exactly one field at its root.')
  const [alias, nodes] = root
  const [node] = nodes
  const type = node?.name.value ?? ''
  const field = fieldOf(type)
  if (!node || !field) return rejected(`There is no subscription ${type}.`)
  const { fromBlock, ...args } = getArgumentValues(field, node, variables)
  if (typeof fromBlock === 'number' && fromBlock < 0) return rejected('fromBlock: must be a height, 0 or more', [alias])
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

/** What was asked for before the relay slept; null where it is to be had no more. */
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

/** As a body on /ws has them: what is null is left out, and of a list of one where one thing would do, that thing. */
function argumentsOf(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(args).filter(([, value]) => value !== null)
  return Object.fromEntries(given.map(([name, value]) => [name, name === 'coin' ? unwrapSingle(value) : value]))
}

function unwrapSingle(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

/** Whether it takes the height or time of the block, which frames of events have where that was asked for. */
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
  // Nothing in it is asynchronous.
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
/** Of one name: each is compared with each. */
const MAX_SAME_NAME = 40
const MAX_DEFINITIONS = 50
const MAX_DEPTH = 16
/** An alias stands in each result. */
const MAX_ALIAS_CHARS = 64
/** Fields when each fragment stands where it is spread. */
const MAX_EXPANDED_FIELDS = 2_000
/** Lists of what a schema has: a query multiplies them with one another. The usual one asks for nine. */
const SCHEMA_LISTS: ReadonlySet<string> = new Set([
  ...['types', 'directives', 'fields', 'args', 'inputFields', 'interfaces', 'enumValues', 'possibleTypes'],
])
const MAX_LISTS = 12
/** Beside such lists, whose every item an alias stands in. The usual query has none. */
const MAX_ALIASES = 12

/** Of a fragment or an operation. */
interface Size {
  fields: number
  lists: number
  aliases: number
  readonly spreads: string[]
}

/**
 * What is too large of a document that is not validated yet. Invariant: it takes one pass, whatever the document; what stays
 * within is validated in a few milliseconds, which takes the square of fields that are called the same.
 */
function sizeErrors(document: DocumentNode): GraphQLError[] {
  const sizes = new Map<string, Size>()
  const alike = new Map<string, number>()
  let own = emptySize()
  let depth = 0
  let deepest = 0
  let fields = 0
  let longest = 0
  let most = 0
  const count = ({ name, alias }: FieldNode) => {
    const called = (alias ?? name).value
    const same = (alike.get(called) ?? 0) + 1
    alike.set(called, same)
    most = Math.max(most, same)
    longest = Math.max(longest, alias?.value.length ?? 0)
    own.fields++
    fields++
    if (alias) own.aliases++
    if (SCHEMA_LISTS.has(name.value)) own.lists++
  }
  visit(document, {
    enter: (node) => {
      if (node.kind === Kind.SELECTION_SET) deepest = Math.max(deepest, ++depth)
      else if (node.kind === Kind.FRAGMENT_SPREAD) own.spreads.push(node.name.value)
      else if (node.kind === Kind.FIELD) count(node)
      else if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) {
        own = emptySize()
        sizes.set(node.kind === Kind.FRAGMENT_DEFINITION ? node.name.value : `operation ${sizes.size}`, own)
      }
    },
    leave: (node) => {
      if (node.kind === Kind.SELECTION_SET) depth--
    },
  })
  const wrong: string[] = []
  if (fields > MAX_FIELDS) wrong.push(`at most ${MAX_FIELDS} fields, each alias one`)
  if (most > MAX_SAME_NAME) wrong.push(`at most ${MAX_SAME_NAME} fields that are called the same`)
  if (longest > MAX_ALIAS_CHARS) wrong.push(`aliases of at most ${MAX_ALIAS_CHARS} characters`)
  if (sizes.size > MAX_DEFINITIONS) wrong.push(`at most ${MAX_DEFINITIONS} fragments and operations`)
  if (deepest > MAX_DEPTH) wrong.push(`at most ${MAX_DEPTH} levels`)
  const spread = expandedSizes(sizes)
  if (spread.some((size) => size.fields > MAX_EXPANDED_FIELDS))
    wrong.push(`at most ${MAX_EXPANDED_FIELDS} fields with all fragments in their places`)
  if (spread.some((size) => size.lists > MAX_LISTS))
    wrong.push(`at most ${MAX_LISTS} of ${[...SCHEMA_LISTS].join(', ')}`)
  if (spread.some((size) => size.lists > 0 && size.aliases > MAX_ALIASES))
    wrong.push(`at most ${MAX_ALIASES} aliases beside the lists of the schema`)
  return wrong.map((bound) => new GraphQLError(`The document is too large: ${bound}.`))
}

const emptySize = (): Size => ({ fields: 0, lists: 0, aliases: 0, spreads: [] })

/** What each definition has with its fragments in their places; a circle, which validation finds, counts once. */
function expandedSizes(sizes: ReadonlyMap<string, Size>): Size[] {
  const known = new Map<string, Size>()
  const sizeOf = (name: string): Size => {
    const size = known.get(name)
    if (size) return size
    known.set(name, emptySize())
    const all = { ...emptySize(), ...sizes.get(name) }
    for (const { fields, lists, aliases } of all.spreads.map(sizeOf)) {
      all.fields += fields
      all.lists += lists
      all.aliases += aliases
    }
    known.set(name, all)
    return all
  }
  return [...sizes.keys()].map(sizeOf)
}
