// What of a document is too large to be looked at any further. Law: it takes one pass, whatever the document; what stays
// within is validated in a few milliseconds, which takes the square of fields that are called the same.

import { type DocumentNode, type FieldNode, GraphQLError, Kind, visit } from 'graphql'

const MAX_FIELDS = 400
/** Of one name: each is compared with each. */
const MAX_ALIKE = 40
const MAX_DEFINITIONS = 50
const MAX_DEPTH = 16
/** An alias stands in each result. */
const MAX_ALIAS_CHARS = 64
/** Fields when each fragment stands where it is spread. */
const MAX_SPREAD = 2_000
/** Lists of what a schema has: a query multiplies them with one another. The usual one asks for eight. */
const LISTS_OF_SCHEMA: ReadonlySet<string> = new Set([
  ...['types', 'directives', 'fields', 'args', 'inputFields', 'interfaces', 'enumValues', 'possibleTypes'],
])
const MAX_LISTS = 12

/** Of a fragment or an operation. */
interface Size {
  fields: number
  readonly spreads: string[]
}

/** What is too large of a document that is not validated yet. */
export function boundsOf(document: DocumentNode): GraphQLError[] {
  const sizes = new Map<string, Size>()
  const alike = new Map<string, number>()
  let own: Size = { fields: 0, spreads: [] }
  let [depth, deepest, fields, lists, longest, most] = [0, 0, 0, 0, 0, 0]
  const count = ({ name, alias }: FieldNode) => {
    const called = (alias ?? name).value
    const same = (alike.get(called) ?? 0) + 1
    alike.set(called, same)
    most = Math.max(most, same)
    longest = Math.max(longest, alias?.value.length ?? 0)
    own.fields++
    fields++
    if (LISTS_OF_SCHEMA.has(name.value)) lists++
  }
  visit(document, {
    enter: (node) => {
      if (node.kind === Kind.SELECTION_SET) deepest = Math.max(deepest, ++depth)
      else if (node.kind === Kind.FRAGMENT_SPREAD) own.spreads.push(node.name.value)
      else if (node.kind === Kind.FIELD) count(node)
      else if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) {
        own = { fields: 0, spreads: [] }
        sizes.set(node.kind === Kind.FRAGMENT_DEFINITION ? node.name.value : `operation ${sizes.size}`, own)
      }
    },
    leave: (node) => {
      if (node.kind === Kind.SELECTION_SET) depth--
    },
  })
  const wrong: string[] = []
  if (fields > MAX_FIELDS) wrong.push(`at most ${MAX_FIELDS} fields, each alias one`)
  if (most > MAX_ALIKE) wrong.push(`at most ${MAX_ALIKE} fields that are called the same`)
  if (longest > MAX_ALIAS_CHARS) wrong.push(`aliases of at most ${MAX_ALIAS_CHARS} characters`)
  if (sizes.size > MAX_DEFINITIONS) wrong.push(`at most ${MAX_DEFINITIONS} fragments and operations`)
  if (deepest > MAX_DEPTH) wrong.push(`at most ${MAX_DEPTH} levels`)
  if (lists > MAX_LISTS) wrong.push(`at most ${MAX_LISTS} of ${[...LISTS_OF_SCHEMA].join(', ')}`)
  if (wrong.length === 0 && spreadFields(sizes) > MAX_SPREAD)
    wrong.push(`at most ${MAX_SPREAD} fields with all fragments in their places`)
  return wrong.map((bound) => new GraphQLError(`The document is too large: ${bound}.`))
}

/** Fields of the largest definition with its fragments in their places; a circle, which validation finds, counts once. */
function spreadFields(sizes: ReadonlyMap<string, Size>): number {
  const known = new Map<string, number>()
  const sizeOf = (name: string): number => {
    const size = known.get(name)
    if (size !== undefined) return size
    known.set(name, 0)
    const { fields = 0, spreads = [] } = sizes.get(name) ?? {}
    const all = Math.min(
      spreads.reduce((sum, spread) => sum + sizeOf(spread), fields),
      MAX_SPREAD + 1,
    )
    known.set(name, all)
    return all
  }
  return Math.max(0, ...[...sizes.keys()].map(sizeOf))
}
