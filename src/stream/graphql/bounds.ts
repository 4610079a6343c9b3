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
/** Lists of what a schema has: a query multiplies them with one another. The usual one asks for nine. */
const LISTS_OF_SCHEMA: ReadonlySet<string> = new Set([
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

/** What is too large of a document that is not validated yet. */
export function boundsOf(document: DocumentNode): GraphQLError[] {
  const sizes = new Map<string, Size>()
  const alike = new Map<string, number>()
  let own = nothing()
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
    if (LISTS_OF_SCHEMA.has(name.value)) own.lists++
  }
  visit(document, {
    enter: (node) => {
      if (node.kind === Kind.SELECTION_SET) deepest = Math.max(deepest, ++depth)
      else if (node.kind === Kind.FRAGMENT_SPREAD) own.spreads.push(node.name.value)
      else if (node.kind === Kind.FIELD) count(node)
      else if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) {
        own = nothing()
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
  const spread = spreadOf(sizes)
  if (spread.some((size) => size.fields > MAX_SPREAD))
    wrong.push(`at most ${MAX_SPREAD} fields with all fragments in their places`)
  if (spread.some((size) => size.lists > MAX_LISTS))
    wrong.push(`at most ${MAX_LISTS} of ${[...LISTS_OF_SCHEMA].join(', ')}`)
  if (spread.some((size) => size.lists > 0 && size.aliases > MAX_ALIASES))
    wrong.push(`at most ${MAX_ALIASES} aliases beside the lists of the schema`)
  return wrong.map((bound) => new GraphQLError(`The document is too large: ${bound}.`))
}

const nothing = (): Size => ({ fields: 0, lists: 0, aliases: 0, spreads: [] })

/** What each definition has with its fragments in their places; a circle, which validation finds, counts once. */
function spreadOf(sizes: ReadonlyMap<string, Size>): Size[] {
  const known = new Map<string, Size>()
  const sizeOf = (name: string): Size => {
    const size = known.get(name)
    if (size) return size
    known.set(name, nothing())
    const all = { ...nothing(), ...sizes.get(name) }
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
