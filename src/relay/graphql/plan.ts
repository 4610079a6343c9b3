// Projection plan of a selection. It is computed once per document and variables, and projection.ts applies it to
// frames. There are no abstract types, so a fragment always applies. Invariant: a result is at most a small multiple of
// its frame's length.

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

/** Fragments and variables of a document. */
export interface SelectionContext {
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: Readonly<Record<string, unknown>>
}

interface PlannedField {
  /** The alias with quotes and a colon: `"alias":`. */
  readonly label: string
  /** The `__typename` value, the same for all objects of the type. */
  readonly constant: string | null
  /** Number of list levels around the objects of `plan`. */
  readonly lists: number
  /** Null if the value is copied. */
  readonly plan: Plan | null
}

export interface Plan {
  readonly fields: readonly PlannedField[]
  /** Index in `fields` by property name, or by position in a pair. */
  readonly positions: ReadonlyMap<string | number, number>
  /** Objects with exactly these properties in this order are copied unchanged; null if no object can be. */
  readonly exactFields: readonly string[] | null
  /** The canonical selection. It is unique among the plans of a type. */
  readonly key: string
  /** Number of fields, nested ones included. */
  readonly size: number
}

/**
 * Maximum number of characters by which the labels of an object may exceed twice the length of its field names. Frames
 * hold many small objects, so every character counts.
 */
const EXTRA_CHARS = 64
/** A selection whose only field is skipped. */
const EMPTY_SELECTION = '{__typename@skip(if:true)}'

/** Builds the plan of selections on a type. Throws if results would be much longer than frames. */
export function planOf(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  selecting: SelectionContext,
): Plan {
  const nodes = new Map<string, FieldNode[]>()
  for (const selection of selections) collect(selection, selecting, nodes, new Set())
  const taken = new Map<string | number, number>()
  const names: string[] = []
  const fields = [...nodes].map(([alias, sameNodes], index): PlannedField => {
    const name = sameNodes[0]?.name.value ?? ''
    names.push(name)
    const label = `"${alias}":`
    if (name === '__typename') return { label, constant: `"${type.name}"`, lists: 0, plan: null }
    const field = type.getFields()[name]
    if (!field) throw new GraphQLError(`${type.name} has no field "${name}".`)
    const of = (field.extensions as Partial<Member>).index ?? name
    if (taken.has(of)) throw new GraphQLError(`${name}: select it only once, under one alias.`)
    taken.set(of, index)
    return { label, constant: null, ...childPlan(field.type, sameNodes, selecting) }
  })
  rejectLongAliases(type, fields)
  const isPair = Object.values(type.getFields()).some(({ extensions }) => 'index' in extensions)
  const isWhole =
    !isPair &&
    fields.every(({ label, constant, plan }, index) => {
      return constant === null && label === `"${names[index]}":` && plan?.exactFields !== null
    })
  const key = fields
    .map(({ label, plan }, index) => `${label.slice(1, -2)}:${names[index]}${plan?.key ?? ''}`)
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

/** Restores the plan with this key. Throws if the type no longer has its fields. */
export function readPlan(type: GraphQLObjectType, key: string): Plan {
  const { selectionSet } = parse(key, { noLocation: true }).definitions[0] as OperationDefinitionNode
  return planOf(type, [selectionSet], { fragments: {}, variables: {} })
}

/** Throws if the aliases of an object are too long compared with its field names. */
function rejectLongAliases(type: GraphQLObjectType, fields: readonly PlannedField[]): void {
  const nameChars = Object.keys(type.getFields()).reduce((sum, name) => sum + name.length + 3, 0)
  const chars = fields.reduce((sum, { label, constant }) => sum + label.length + (constant?.length ?? 0), 0)
  if (chars > 2 * nameChars + EXTRA_CHARS)
    throw new GraphQLError(`Aliases in ${type.name} are too long. Use fewer or shorter ones.`)
}

function childPlan(type: GraphQLOutputType, sameNodes: readonly FieldNode[], selecting: SelectionContext) {
  const named = getNamedType(type)
  if (!(named instanceof GraphQLObjectType)) return { lists: 0, plan: null }
  let lists = 0
  for (let inner = type; isListType(inner); inner = inner.ofType) lists++
  const selections = sameNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  return { lists, plan: planOf(named, selections, selecting) }
}

/** Collects fields by response name in document order. */
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
