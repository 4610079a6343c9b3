// What a selection takes of a frame: worked out once for a document and its variables, and applied to texts
// (projection.ts). There are no abstract types, so a fragment always applies. Law: a result is some times as long as its
// frame at most, whatever it is asked for.

import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  isListType,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { getOrCreate } from '../../core/get-or-create.ts'
import type { Member } from './schema.ts'

/** What selections are read with. */
export interface SelectionContext {
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: Readonly<Record<string, unknown>>
}

interface PlannedField {
  /** `"alias":`. */
  readonly label: string
  /** The same for all objects of the type: `__typename`. */
  readonly constant: string | null
  /** How many lists stand around the objects of `plan`. */
  readonly lists: number
  /** Null: the value as it is. */
  readonly plan: Plan | null
}

export interface Plan {
  readonly fields: readonly PlannedField[]
  /** Place in `fields` of what is taken of a property, or of a member of a list of two. */
  readonly positions: ReadonlyMap<string | number, number>
  /** Objects that have just these properties, in this order, are taken as they stand; null: none can be. */
  readonly exactFields: readonly string[] | null
  /** A selection that takes the same: it tells it apart from all plans of the type that take something else. */
  readonly key: string
  /** How many fields it has with those below them. */
  readonly size: number
}

/** Frames hold much of little things, so that every letter that comes beside them counts. */
const EXTRA_CHARS = 64
/** Of a selection of which everything is skipped. */
const EMPTY_SELECTION = '{__typename@skip(if:true)}'

/** The plan of selections of a type. Throws where they would make more of a frame than it is. */
export function planOf(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  selecting: SelectionContext,
): Plan {
  const nodes = new Map<string, FieldNode[]>()
  for (const selection of selections) collect(selection, selecting, nodes, new Set())
  const taken = new Map<string | number, number>()
  const names: string[] = []
  const fields = [...nodes].map(([alias, same], place): PlannedField => {
    const name = same[0]?.name.value ?? ''
    names.push(name)
    const label = `"${alias}":`
    if (name === '__typename') return { label, constant: `"${type.name}"`, lists: 0, plan: null }
    const field = type.getFields()[name]
    if (!field) throw new GraphQLError(`${type.name} has no field "${name}".`)
    const of = (field.extensions as Partial<Member>).index ?? name
    if (taken.has(of)) throw new GraphQLError(`${name}: take it once, under one alias.`)
    taken.set(of, place)
    return { label, constant: null, ...childPlan(field.type, same, selecting) }
  })
  rejectLongAliases(type, fields)
  const isPair = Object.values(type.getFields()).some(({ extensions }) => 'index' in extensions)
  const isWhole =
    !isPair &&
    fields.every(({ label, constant, plan }, place) => {
      return constant === null && label === `"${names[place]}":` && plan?.exactFields !== null
    })
  const key = fields
    .map(({ label, plan }, place) => `${label.slice(1, -2)}:${names[place]}${plan?.key ?? ''}`)
    .join(' ')
  const size = fields.reduce((sum, { plan }) => sum + 1 + (plan?.size ?? 0), 0)
  return {
    fields,
    positions: taken,
    exactFields: isWhole ? names : null,
    key: fields.length === 0 ? EMPTY_SELECTION : `{${key}}`,
    size,
  }
}

/** The plan that has this key. Throws where the type has it no more. */
export function readPlan(type: GraphQLObjectType, key: string): Plan {
  const { selectionSet } = parse(key, { noLocation: true }).definitions[0] as OperationDefinitionNode
  return planOf(type, [selectionSet], { fragments: {}, variables: {} })
}

/** Throws where the names of an object's fields are too long beside those that it has. */
function rejectLongAliases(type: GraphQLObjectType, fields: readonly PlannedField[]): void {
  const own = Object.keys(type.getFields()).reduce((sum, name) => sum + name.length + 3, 0)
  const chars = fields.reduce((sum, { label, constant }) => sum + label.length + (constant?.length ?? 0), 0)
  if (chars > 2 * own + EXTRA_CHARS)
    throw new GraphQLError(`Aliases in ${type.name} are too long: make them shorter, or fewer.`)
}

function childPlan(type: GraphQLOutputType, same: readonly FieldNode[], selecting: SelectionContext) {
  const named = getNamedType(type)
  if (!(named instanceof GraphQLObjectType)) return { lists: 0, plan: null }
  let lists = 0
  for (let inner = type; isListType(inner); inner = inner.ofType) lists++
  const selections = same.flatMap(({ selectionSet }) => selectionSet ?? [])
  return { lists, plan: planOf(named, selections, selecting) }
}

/** Fields by the names that they come under, in the order of the document. */
export function collect(
  { selections }: SelectionSetNode,
  selecting: SelectionContext,
  nodes: Map<string, FieldNode[]>,
  seen: Set<string>,
): void {
  const { fragments, variables } = selecting
  for (const node of selections) {
    const isSkipped = getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true
    if (isSkipped || getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false) continue
    if (node.kind === 'Field') getOrCreate(nodes, node.alias?.value ?? node.name.value, () => []).push(node)
    else if (node.kind === 'InlineFragment') collect(node.selectionSet, selecting, nodes, seen)
    else {
      const fragment = fragments[node.name.value]
      if (!fragment || seen.has(node.name.value)) continue
      seen.add(node.name.value)
      collect(fragment.selectionSet, selecting, nodes, seen)
    }
  }
}
