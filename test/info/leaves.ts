// The leaves of JSON answers, and what else could stand in their place. What the answers of one type show between them at
// a path, kinds of values and absent keys, is all that its schema may allow there.

import * as z from 'zod'

/** A place of an answer: its keys and indexes, and its path, in which the elements of a list share one name. */
interface Place {
  readonly at: readonly (string | number)[]
  readonly path: string
  readonly value: unknown
}

/** A value of each kind; the texts of an amount, an id and a moment are told from other text. */
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

/** Kinds that stand for narrower ones too: where text is shown an amount may stand. */
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

/** Keys whose text names the kind of an object, which then has fields of its own. */
const KIND_KEYS = ['type', 'role', 'stage']
const kindName = (value: object) => {
  const record = value as Record<string, unknown>
  const status = record.status === 'order' || record.status === 'unknownOid' ? record.status : undefined
  const name =
    status ?? KIND_KEYS.map((key) => record[key]).find((kind) => typeof kind === 'string' && kind !== 'oneWay')
  return name === undefined ? '' : `<${name}>`
}

/** Lists of one kind have elements; others are rows, whose places differ. */
export const isRow = (list: readonly unknown[]) => new Set(list.map(kindOf).filter((kind) => kind !== 'null')).size > 1

/** Every place of a value, itself first; orders attached to orders are orders. */
export function places(value: unknown, at: Place['at'] = [], path = ''): Place[] {
  const here = { at, path: path.replaceAll('.children[]', ''), value }
  if (typeof value !== 'object' || value === null) return [here]
  const inner = Array.isArray(value)
    ? value.flatMap((item, i) => places(item, [...at, i], `${path}[${isRow(value) ? i : ''}]`))
    : Object.entries(value).flatMap(([key, item]) => places(item, [...at, key], `${path}${kindName(value)}.${key}`))
  return [here, ...inner]
}

/** By path, all kinds that these answers show; a key that one of its objects lacks is absent. */
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

/** What may not stand at a place that shows these kinds, by its kind. */
export function wrongFor(shown: ReadonlySet<Kind>): readonly (readonly [Kind, unknown])[] {
  const allowed = (kind: Kind) => shown.has(kind) || (WIDER[kind] !== undefined && shown.has(WIDER[kind]))
  return (Object.entries(SAMPLES) as [Kind, unknown][]).filter(([kind]) => !allowed(kind))
}

const GONE = Symbol('gone')

/** The answer with another value at a place, or with nothing there. */
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

/** The elements of a list one by one, so that a change is looked at in a short answer. */
export function parts(answer: unknown): unknown[] {
  return Array.isArray(answer) && !isRow(answer) && answer.length > 1 ? answer.map((part) => [part]) : [answer]
}

type Json = z.core.JSONSchema.BaseSchema

/** What a published schema knows: the paths of its fields, without the indexes of rows, and where anything may stand. */
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
      // The names of kinds that nobody knows yet are shown by a kind of tomorrow.
      if (!(field as Json).pattern?.startsWith('^(?!')) fields.add(at)
      walk(field as Json, at)
    }
    if (['$ref', 'anyOf', 'type', 'const', 'enum'].every((word) => !(word in node))) open.add(path)
  }
  walk(root, '')
  return { fields: [...fields], open: [...open] }
}
