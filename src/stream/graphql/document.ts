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
} from 'graphql'
import { BoundedMap } from '../../core/bounded-map.ts'
import { folded, nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { visible } from '../../core/visible.ts'
import { readBody } from '../catalogue.ts'
import { echoOf, type Wanted } from '../channel.ts'
import { boundsOf } from './bounds.ts'
import { collect, type Plan, planOf, readPlan, type Selecting } from './plan.ts'
import { graphqlSchema, QUERIES } from './schema.ts'

export interface Payload {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
}

/** A subscription to a channel. */
export interface Asked {
  readonly kind: 'subscription'
  /** `subscription` of the frame that asks for the same on /ws. */
  readonly body: { readonly type: string } & Readonly<Record<string, unknown>>
  readonly wanted: Wanted
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
export interface Kept {
  readonly alias: string
  readonly key: string
}
/** JSON of the answer to a query of the schema. */
export interface Answered {
  readonly kind: 'query'
  readonly text: string
}
type Refused = readonly GraphQLFormattedError[]

const MAX_TOKENS = 2_000
const MAX_ERRORS = 5
/** Names of variables that are looked at for slips. */
const MAX_VARIABLES = 16
/** Names and values of the client's stand in what it is told. */
const MAX_MESSAGE_CHARS = 500
/** Characters of the valid documents that are kept, of which many clients send the same. Parsed, each takes 100 bytes and more. */
const KEPT_CHARS = 64 * 1024
const VALID = new BoundedMap<string, DocumentNode>(KEPT_CHARS, (_, query) => query.length)

/** Of what clients sent: what is wrong is refused, and throws nothing. */
export function readDocument({ query, variables, operationName }: Payload): Result<Asked | Answered, Refused> {
  try {
    const schema = graphqlSchema()
    const valid = validDocument(query)
    if (!valid.ok) return err(valid.error.map(formatted))
    const document = valid.value
    const operation = getOperationAST(document, operationName)
    if (!operation) return refused(`operationName: ${WHICH_OPERATION}`)
    const given = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {}, {
      maxErrors: MAX_ERRORS,
    })
    if (given.errors) return err(given.errors.map(formatted))
    if (operation.operation === 'subscription') {
      const stray = strayVariable(document, operation, variables ?? {})
      return stray === null ? asked(document, operation, given.coerced) : refused(stray)
    }
    if (operation.operation === 'mutation') return refused('There are no mutations: send a subscription.')
    return ok({ kind: 'query', text: answerOf(document, variables, operationName) })
  } catch (error) {
    if (error instanceof GraphQLError) return err([formatted(error)])
    // The parser, and what looks at values, call themselves for each level.
    if (error instanceof RangeError) return refused('The document is nested too deep.')
    throw error
  }
}

/** Throws where it cannot be parsed. */
function validDocument(query: string): Result<DocumentNode, readonly GraphQLError[]> {
  const known = VALID.get(query)
  if (known) return ok(known)
  const document = parse(query, { maxTokens: MAX_TOKENS })
  const errors = boundsOf(document)
  if (errors.length === 0) errors.push(...validate(graphqlSchema(), document, undefined, { maxErrors: MAX_ERRORS }))
  if (errors.length > 0) return err(errors)
  VALID.set(query, document)
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
    if (argumentNames(document).has(folded(name)))
      return `variables: ${shown} is not declared: declare it, and pass it to the field.`
  }
  return null
}

/** Of all subscriptions that stand in the document, folded. */
function argumentNames({ definitions }: DocumentNode): ReadonlySet<string> {
  const fields = definitions.flatMap((one) => ('selectionSet' in one ? (one.selectionSet?.selections ?? []) : []))
  const names = fields.flatMap((one) => (one.kind === Kind.FIELD ? (fieldOf(one.name.value)?.args ?? []) : []))
  return new Set(names.map(({ name }) => folded(name)))
}

const WHICH_OPERATION = 'must name one operation of the document, which has several or none'

function asked(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Result<Asked, Refused> {
  const definitions = document.definitions.flatMap((one) =>
    one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
  )
  const selecting: Selecting = { fragments: Object.fromEntries(definitions), variables }
  const roots = new Map<string, FieldNode[]>()
  collect(operation.selectionSet, selecting, roots, new Set())
  const [root, second] = Array.from(roots)
  if (!root || second) return refused('A subscription has exactly one field at its root.')
  const [alias, nodes] = root
  const type = nodes[0]!.name.value
  const field = fieldOf(type)!
  const { fromBlock, ...args } = getArgumentValues(field, nodes[0]!, variables)
  if (typeof fromBlock === 'number' && fromBlock < 0) return refused('fromBlock: must be a height, 0 or more', [alias])
  const body = { type, ...argumentsOf(args) }
  const read = readBody(body)
  if (!read.ok) return refused(`${read.error.path}: ${read.error.message}`, [alias])
  const wanted = read.value
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const plan = planOf(getNamedType(field.type) as GraphQLObjectType, selections, selecting)
  return ok({
    kind: 'subscription',
    body,
    wanted,
    alias,
    plan,
    echo: JSON.stringify(echoOf(body, wanted)),
    meta: wanted.source === 'events' && saysBlock(plan),
    fromBlock: typeof fromBlock === 'number' ? fromBlock : undefined,
  })
}

/** What was asked for before the relay slept; null where it is to be had no more. */
export function readKept({ alias, key }: Kept, echo: string): Pick<Asked, 'alias' | 'plan' | 'echo' | 'wanted'> | null {
  try {
    const body = JSON.parse(echo) as Asked['body']
    const read = readBody(body)
    const field = fieldOf(body.type)
    if (!read.ok || !field) return null
    return { alias, echo, wanted: read.value, plan: readPlan(getNamedType(field.type) as GraphQLObjectType, key) }
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}

function fieldOf(type: string) {
  return graphqlSchema().getSubscriptionType()!.getFields()[type]
}

/** As a body on /ws has them: what is null is left out, and of a list of one where one thing would do, that thing. */
function argumentsOf(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(args).filter(([, value]) => value !== null)
  return Object.fromEntries(given.map(([name, value]) => [name, name === 'coin' ? oneOf(value) : value]))
}

function oneOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

/** Whether it takes the height or time of the block, which frames of events have where that was asked for. */
function saysBlock({ taken, fields }: Plan): boolean {
  const isSaid = taken.has('block_height') || taken.has('time')
  const data = fields[taken.get('data') ?? -1]
  return isSaid || (data?.lists === 0 && data.plan?.taken.has('block_height') === true)
}

function answerOf(document: DocumentNode, variables: Payload['variables'], operationName: Payload['operationName']) {
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

function refused(message: string, path?: readonly string[]): Result<never, Refused> {
  return err([{ message, ...(path && { path }), extensions: { code: 'INVALID_REQUEST' } }])
}
