// Renders a schema as a table with one row per field: type, bounds and meaning in words.

import * as z from 'zod'
import { inGroups } from '../../../core/digit-groups.ts'
import { cells, code } from './page.ts'

type Schema = z.core.JSONSchema.BaseSchema
type Defs = Readonly<Record<string, Schema>>

export interface FieldRow {
  /** Path from the root, such as `levels[0][].px`; `[]` is each list entry, `*` each object key. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  /** Default value as JSON. */
  readonly defaultValue: string | null
  readonly description: string | null
}

/** Names of known string patterns. */
const PATTERN_NAMES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\^-\?\\d/, 'decimal number as text'],
  [/^\^\\d\{1,38\}/, 'decimal number as text, 0 or more'],
  [/^\^0x\[0-9a-f(?:A-F)?\]\{40\}\$$/, 'address: `0x` and 40 hex digits'],
  [/^\^0x\[0-9a-f\]\{64\}\$$/, 'hash: `0x` and 64 hex digits'],
  [/^\^0x\[0-9a-f(?:A-F)?\]\{32\}\$$/, 'id: `0x` and 32 hex digits'],
  // A query parameter is a string on the wire and a number to the caller.
  [/^\^\(\?:0\|\[1-9\]/, 'integer'],
]
const PLURALS: Readonly<Record<string, string>> = {
  text: 'texts',
  'decimal number as text': 'decimal numbers as text',
  'address: `0x` and 40 hex digits': 'addresses: `0x` and 40 hex digits',
  integer: 'integers',
  number: 'numbers',
  object: 'objects',
  pair: 'pairs',
  'any JSON': 'any JSON values',
}
const VALUES_MAX = 40

/** A row for each field, with the fields of nested objects after their parent. */
export function fieldRows(schema: z.ZodType): readonly FieldRow[] {
  const { defs, top } = jsonSchemaOf(schema)
  return merged([...rowsBelow(top, '', { defs, firstPaths: new Map(), ancestors: [] })])
}

/** The type of the whole value. */
export function typeOf(schema: z.ZodType): string {
  const { defs, top } = jsonSchemaOf(schema)
  return typeText(top, defs)
}

/** Markdown table of the rows. */
export function fieldTable(rows: readonly FieldRow[], isRequest: boolean): string {
  const head = isRequest ? ['Field', 'Type', 'Presence', 'Meaning'] : ['Field', 'Type', 'Meaning']
  const lines = rows.map((row) => {
    const { path, type, isRequired, defaultValue } = row
    const whole = meaningOf(row)
    const meaning = isName(whole, path) ? '' : whole
    const optional = defaultValue === null ? 'optional' : `optional; default ${code(defaultValue)}`
    const presence = isRequired || isRequest ? '' : 'Optional. '
    return isRequest
      ? [code(path), type, isRequired ? 'required' : optional, meaning]
      : [code(path), type, `${presence}${meaning}`.trim()]
  })
  return [head, head.map(() => '---'), ...lines].map(cells).join('\n')
}

/** A meaning that only repeats the name of the field says nothing. */
const isName = (meaning: string, path: string) => lettersOf(meaning) === lettersOf(path.replace(/^.*\./, ''))
const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** Description of the field, else its name in words; empty for a tuple element. Times are Unix milliseconds. */
export function meaningOf({ path, type, description }: FieldRow): string {
  if (description !== null) return description
  const [name = ''] = /[^.[\]]*$/.exec(path.replaceAll('[]', '')) ?? []
  if (name === '') return ''
  if (name === '*') return 'Entry by name'
  const parts = name
    .split(/_|(?<=[a-z0-9])(?=[A-Z])/)
    .map((word) => NAME_WORDS[word.toLowerCase()] ?? word.toLowerCase())
  const meaning = parts.join(' ').replace(/^./, (letter) => letter.toUpperCase())
  return type.startsWith('integer') && /time$|timestamp$/i.test(meaning) ? `${meaning}, Unix milliseconds` : meaning
}

const NAME_WORDS: Readonly<Record<string, string>> = {
  cum: 'total',
  ctx: 'market data',
  ctxs: 'market data',
  dex: 'DEX',
  evm: 'EVM',
  is: 'whether',
  max: 'maximum',
  n: 'number of',
  ntl: 'notional',
  oi: 'open interest',
  orig: 'original',
  pnl: 'profit',
  prev: 'previous',
  px: 'price',
  pxs: 'prices',
  sz: 'size',
  szs: 'sizes',
  twap: 'TWAP',
  tx: 'transaction',
  usd: 'USD',
  usdc: 'USDC',
  vlm: 'volume',
}

function jsonSchemaOf(schema: z.ZodType): { defs: Defs; top: Schema } {
  const top = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  return { top, defs: { ...(top.$defs as Defs | undefined), '#': top } }
}

function resolved(schema: Schema, defs: Defs): Schema {
  if (schema.$ref === undefined) return schema
  const found = defs[schema.$ref === '#' ? '#' : schema.$ref.slice('#/$defs/'.length)]
  return found === undefined ? {} : resolved(found, defs)
}

/** Alternatives of a schema, including `null`. */
function kindsOf(schema: Schema, defs: Defs): Schema[] {
  const own = resolved(schema, defs)
  if (Array.isArray(own.type)) return own.type.map((type) => ({ ...own, type }))
  const kinds = own.anyOf ?? own.oneOf
  return kinds === undefined ? [own] : (kinds as Schema[]).flatMap((kind) => kindsOf(kind, defs))
}

/** State of the walk: the path where each large object is first described, and the enclosing objects. */
interface Walk {
  readonly defs: Defs
  readonly firstPaths: Map<string, string>
  readonly ancestors: readonly Schema[]
}
/** An object with at least this many fields is described only once. */
const SHARED_SHAPE_MIN_FIELDS = 3

function* rowsBelow(schema: Schema, path: string, walk: Walk): Generator<FieldRow> {
  const kinds = kindsOf(schema, walk.defs)
  const objects = kinds.filter(({ properties }) => properties !== undefined)
  for (const kind of kinds) {
    // A recursive object is described once.
    if (walk.ancestors.includes(kind) || firstPathOf(kind, path, walk) !== path) continue
    const inside = { ...walk, ancestors: [...walk.ancestors, kind] }
    for (const [name, field] of Object.entries(kind.properties ?? {})) {
      const isRequired = objects.every(({ required }) => required?.includes(name))
      yield* rowAndBelow(path === '' ? name : `${path}.${name}`, field as Schema, isRequired, inside)
    }
    for (const [at, slot] of (kind.prefixItems ?? []).entries())
      yield* rowAndBelow(`${path}[${at}]`, slot as Schema, true, inside)
    if (isSchema(kind.items)) yield* rowsBelow(kind.items, `${path}[]`, inside)
    if (isSchema(kind.additionalProperties) && kind.properties === undefined)
      yield* rowAndBelow(path === '' ? '*' : `${path}.*`, kind.additionalProperties, true, inside)
  }
}

function* rowAndBelow(path: string, field: Schema, isRequired: boolean, walk: Walk): Generator<FieldRow> {
  const same = sameAs(field, path, walk)
  const type = typeText(field, walk.defs)
  yield {
    path,
    type: same === null ? type : `${type}, same as ${same === '' ? 'the whole' : code(same)}`,
    isRequired: isRequired && field.default === undefined,
    defaultValue: field.default === undefined ? null : JSON.stringify(field.default),
    description: descriptionOf(field, walk.defs),
  }
  yield* rowsBelow(field, path, walk)
}

function descriptionOf(field: Schema, defs: Defs): string | null {
  return field.description ?? kindsOf(field, defs).find(({ description }) => description)?.description ?? null
}

/** The path where the fields of this object, or of this list's entries, were described earlier; null: not yet. */
function sameAs(field: Schema, path: string, walk: Walk): string | null {
  for (const kind of kindsOf(field, walk.defs)) {
    const isList = isSchema(kind.items)
    const at = isList ? `${path}[]` : path
    for (const inner of isList ? kindsOf(kind.items as Schema, walk.defs) : [kind]) {
      const firstPath = walk.firstPaths.get(shapeText(inner))
      if (firstPath !== undefined && firstPath !== at) return firstPath
    }
  }
  return null
}

/**
 * The path where the fields of `kind` are described. It differs from `path` only if `kind` has many fields and an
 * earlier path describes them.
 */
function firstPathOf(kind: Schema, path: string, { firstPaths }: Walk): string {
  if (Object.keys(kind.properties ?? {}).length < SHARED_SHAPE_MIN_FIELDS) return path
  const text = shapeText(kind)
  const firstPath = firstPaths.get(text) ?? path
  firstPaths.set(text, firstPath)
  return firstPath
}

/** Equal for schemas that differ only in their description. */
const shapeText = (kind: Schema) => JSON.stringify({ ...kind, description: undefined })

/** Fields of the same name in several kinds of an object become one row. */
function merged(rows: readonly FieldRow[]): FieldRow[] {
  const byPath = new Map<string, FieldRow>()
  for (const row of rows) {
    const known = byPath.get(row.path)
    const type = known === undefined || known.type === row.type ? row.type : `${known.type}, or ${row.type}`
    byPath.set(row.path, { ...(known ?? row), type: known?.type.includes(row.type) ? known.type : type })
  }
  return [...byPath.values()]
}

function typeText(schema: Schema, defs: Defs): string {
  const kinds = kindsOf(schema, defs)
  const texts = [...new Set(kinds.filter(({ type }) => type !== 'null').map((kind) => kindText(kind, defs)))]
  // Open enumerations: known values first, then any other string.
  const isOpen = texts.includes('text') && texts.some((word) => word.startsWith('`'))
  const labels = isOpen ? [...texts.filter((word) => word !== 'text'), 'another text'] : texts
  return [...labels, ...(kinds.some(({ type }) => type === 'null') ? ['null'] : [])].join(' or ')
}

function kindText(kind: Schema, defs: Defs): string {
  if (kind.const !== undefined) return code(JSON.stringify(kind.const))
  if (kind.enum !== undefined) return valuesText(kind.enum)
  switch (kind.type) {
    case 'string':
      return stringText(kind)
    case 'integer':
      return `integer${boundsText(kind.minimum, kind.maximum, '')}`
    case 'number':
      return `number${boundsText(kind.minimum, kind.maximum, '')}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return listText(kind, defs)
    case 'object':
      return kind.properties === undefined ? 'object by key' : 'object'
    default:
      return kind.type === undefined ? 'any JSON' : String(kind.type)
  }
}

function valuesText(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_MAX).map((value) => code(JSON.stringify(value)))
  return `${shown.join(', ')}${values.length > VALUES_MAX ? ', …' : ''}`
}

function stringText({ pattern = '', minLength, maxLength }: Schema): string {
  const form = PATTERN_NAMES.find(([known]) => known.test(pattern))
  if (form !== undefined) return form[1]
  const other = /^\^\(\?!\(\?:([\w|]+)\)\$\)$/.exec(pattern)
  if (other !== null) return 'other text'
  return `text${boundsText(minLength, maxLength, ' characters')}`
}

function listText(kind: Schema, defs: Defs): string {
  const slots = kind.prefixItems?.length
  if (slots !== undefined) return slots === 2 ? 'pair' : `tuple of ${slots}`
  const inner = isSchema(kind.items) ? typeText(kind.items, defs) : 'any JSON'
  const [, plain = '', bounds = ''] = /^(text|integer)(, .*)?$/.exec(inner) ?? []
  const items = PLURALS[inner] ?? (plain === '' ? `(${inner})` : `${PLURALS[plain]}${bounds}`)
  return `list of ${items}${boundsText(kind.minItems, kind.maxItems, ' entries')}`
}

/** Bounds in words; the limits of safe integers are not shown. */
function boundsText(low: number | undefined, high: number | undefined, unit: string): string {
  const least = low !== undefined && low > Number.MIN_SAFE_INTEGER ? low : undefined
  const max = high !== undefined && high < Number.MAX_SAFE_INTEGER ? high : undefined
  const shown = (bound: number) => inGroups(bound)
  if (least === undefined || (least === 0 && unit !== ''))
    return max === undefined ? '' : `, at most ${shown(max)}${unit}`
  return max === undefined ? `, at least ${shown(least)}${unit}` : `, ${shown(least)} to ${shown(max)}${unit}`
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}
