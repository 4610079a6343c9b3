// Leaves of JSON responses and values to replace them with. A schema may allow at a path only what the responses of the
// type contain there.

import * as z from 'zod'

/** Location in a response: keys and indexes, and a path in which list elements share one name. */
interface Place {
  readonly at: readonly (string | number)[]
  readonly path: string
  readonly value: unknown
}

/** One value per kind; amounts, ids and times are distinguished from other text. */
const SAMPLES = {
  null: null,
  boolean: true,
  integer: 1,
  fraction: 1.5,
  decimal: '1.5',
  hex: '0x1f',
  moment: '2026-01-02T03:04:05.6',
  text: 'no number',
  list: [],
  object: {},
} as const
type Kind = keyof typeof SAMPLES | 'absent'

/** Kinds that include narrower ones: text includes amounts. */
const WIDER: Partial<Record<Kind, Kind>> = { integer: 'fraction', decimal: 'text', hex: 'text', moment: 'text' }

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean' || typeof value === 'object') return typeof value as Kind
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction'
  if (/^-?\d+(\.\d+)?$/.test(value as string)) return 'decimal'
  if (/^0x[0-9a-f]+$/.test(value as string)) return 'hex'
  return /^\d{4}-\d\d-\d\dT/.test(value as string) ? 'moment' : 'text'
}

/** Discriminator keys, whose value selects the other fields. */
const KIND_KEYS = ['type', 'role', 'stage']
const kindName = (value: object) => {
  const record = value as Record<string, unknown>
  const status = record.status === 'order' || record.status === 'unknownOid' ? record.status : undefined
  const name =
    status ?? KIND_KEYS.map((key) => record[key]).find((kind) => typeof kind === 'string' && kind !== 'oneWay')
  return name === undefined ? '' : `<${name}>`
}

/** Lists have uniform elements; rows have a type per position. */
export const isRow = (list: readonly unknown[]) => new Set(list.map(kindOf).filter((kind) => kind !== 'null')).size > 1

/** All locations of a value, itself first; attached orders count as orders. */
export function places(value: unknown, at: Place['at'] = [], path = ''): Place[] {
  const here = { at, path: path.replaceAll('.children[]', ''), value }
  if (typeof value !== 'object' || value === null) return [here]
  const inner = Array.isArray(value)
    ? value.flatMap((item, i) => places(item, [...at, i], `${path}[${isRow(value) ? i : ''}]`))
    : Object.entries(value).flatMap(([key, item]) => places(item, [...at, key], `${path}${kindName(value)}.${key}`))
  return [here, ...inner]
}

/** Kinds by path in these responses; `absent` if an object lacks the key. */
export function shownBy(answers: readonly unknown[]): ReadonlyMap<string, ReadonlySet<Kind>> {
  const shown = new Map<string, Set<Kind>>()
  const show = (path: string, kind: Kind) => shown.set(path, (shown.get(path) ?? new Set()).add(kind))
  const all = answers.flatMap((answer) => places(answer))
  for (const { path, value } of all) show(path, kindOf(value))
  for (const { path, value } of all) {
    if (kindOf(value) !== 'object') continue
    const prefix = `${path}${kindName(value as object)}.`
    for (const known of [...shown.keys()].filter(
      (one) => one.startsWith(prefix) && !/[.[<]/.test(one.slice(prefix.length)),
    ))
      if (!Object.hasOwn(value as object, known.slice(prefix.length))) show(known, 'absent')
  }
  return shown
}

/** Values to reject at a location with these kinds. */
export function wrongFor(shown: ReadonlySet<Kind>): readonly (readonly [Kind, unknown])[] {
  const allowed = (kind: Kind) => shown.has(kind) || (WIDER[kind] !== undefined && shown.has(WIDER[kind]))
  return (Object.entries(SAMPLES) as [Kind, unknown][]).filter(([kind]) => !allowed(kind))
}

const GONE = Symbol('gone')

/** The response with another value, or none, at a location. */
export function changed(answer: unknown, at: Place['at'], value: unknown = GONE): unknown {
  if (at.length === 0) return value
  const copy = structuredClone(answer)
  const parent = at.slice(0, -1).reduce((one, key) => (one as Record<string | number, unknown>)[key], copy)
  const last = at.at(-1)!
  if (value !== GONE) (parent as Record<string | number, unknown>)[last] = value
  else if (Array.isArray(parent)) parent.splice(last as number, 1)
  else delete (parent as Record<string | number, unknown>)[last]
  return copy
}

/** Splits a list into single elements, so that changes are checked in short responses. */
export function parts(answer: unknown): unknown[] {
  return Array.isArray(answer) && !isRow(answer) && answer.length > 1 ? answer.map((part) => [part]) : [answer]
}

type Json = z.core.JSONSchema.BaseSchema

/** Paths of a published schema, without row indexes, and its untyped locations. */
export function knownTo(schema: z.ZodType): { readonly fields: readonly string[]; readonly open: readonly string[] } {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input' })
  const seen = new Set<string>()
  const fields = new Set<string>()
  const open = new Set<string>()
  const walk = (node: Json, path: string): void => {
    if (node.$ref !== undefined) {
      const visit = `${node.$ref} ${path}`
      if (seen.has(visit)) return
      seen.add(visit)
      walk($defs[node.$ref.slice('#/$defs/'.length)] as Json, path)
    }
    for (const one of node.anyOf ?? []) walk(one as Json, path)
    for (const item of [node.items, ...(node.prefixItems ?? [])].filter((one) => typeof one === 'object'))
      walk(item as Json, `${path}[]`.replaceAll('.children[]', ''))
    const kind = [...KIND_KEYS, 'status']
      .map((key) => (node.properties?.[key] as Json | undefined)?.const)
      .find(Boolean)
    for (const [key, field] of Object.entries(node.properties ?? {})) {
      const at = `${path}${kind === undefined ? '' : `<${kind}>`}.${key}`
      // An invented kind stands for unknown future kinds.
      if (!(field as Json).pattern?.startsWith('^(?!')) fields.add(at)
      walk(field as Json, at)
    }
    if (['$ref', 'anyOf', 'type', 'const', 'enum'].every((word) => !(word in node))) open.add(path)
  }
  walk(root, '')
  return { fields: [...fields], open: [...open] }
}
