// Requests from the texts of a form, and the other way round.

/** `number` is sent as a number if the text is one; `list` is texts separated by commas; `json` is any JSON. */
export type InputKind = 'text' | 'number' | 'boolean' | 'list' | 'json'

export interface RequestField {
  /** Path in the body, such as `req.coin`, or name of the parameter. */
  readonly name: string
  readonly place: 'body' | 'path' | 'query'
  readonly kind: InputKind
  /** The only values that the field accepts, as texts. */
  readonly choices: readonly string[]
  readonly isRequired: boolean
  /** Text of the input at first. */
  readonly value: string
  /** The field is this long before now at first, in milliseconds. */
  readonly agoMs: number | null
  readonly description: string
}

/** A type of `POST /info`. */
export interface RequestType {
  readonly type: string
  readonly group: string
  readonly summary: string
  /** Credits in words. */
  readonly price: string
  /** Fields of the body, except `type`. */
  readonly fields: readonly RequestField[]
}

/** A time before now, which each language computes when the sample runs. Fixed times would soon return no rows. */
export class Ago {
  readonly ms: number
  constructor(ms: number) {
    this.ms = ms
  }
  toJSON(): string {
    return `ago ${this.ms}`
  }
}

/** An input of a form. */
export interface FormInput {
  readonly name: string
  readonly place: string
  readonly kind: string
  readonly text: string
  readonly isRequired: boolean
  /** The text is the time this long before now, in milliseconds. */
  readonly agoMs?: number | null
}

type Body = Record<string, unknown>

/**
 * The fields of `base`, then those that are not empty, and required texts, because an empty text may have a meaning: the
 * main DEX. Throws if a field of kind `json` is not JSON.
 */
export const requestBody = (base: Readonly<Body>, inputs: readonly FormInput[]): Body => bodyOf(base, inputs, false)

/** The same for code samples, which compute the times before now when they run. */
export const sampleBody = (base: Readonly<Body>, inputs: readonly FormInput[]): Body => bodyOf(base, inputs, true)

function bodyOf(base: Readonly<Body>, inputs: readonly FormInput[], isSample: boolean): Body {
  const body: Body = { ...base }
  for (const { name, place, kind, text, isRequired, agoMs = null } of inputs) {
    if (place !== 'body' || (text.trim() === '' && !(isRequired && kind === 'text'))) continue
    const path = name.split('.')
    const last = path.pop() ?? name
    let parent = body
    for (const step of path) {
      parent[step] ??= {}
      parent = parent[step] as Body
    }
    parent[last] = isSample && agoMs !== null ? new Ago(agoMs) : fieldValue(name, kind, text.trim())
  }
  return body
}

/** A text that is no number is sent as a text: the gateway says what is wrong with it. */
function fieldValue(name: string, kind: string, text: string): unknown {
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true'
  if (kind === 'list') return text.split(/[\s,]+/).filter((part) => part !== '')
  if (kind !== 'json') return text
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name} is not valid JSON`)
  }
}

/** The path with its parameters and the query; empty parameters of the query are left out. */
export function requestPath(template: string, inputs: readonly FormInput[]): string {
  const named = (place: string) => inputs.filter((input) => input.place === place)
  const path = named('path').reduce((text, { name, text: value }) => {
    return text.replace(`{${name}}`, encodeURIComponent(value.trim()))
  }, template)
  const query = named('query')
    .filter(({ text }) => text.trim() !== '')
    .map(({ name, text }) => `${name}=${encodeURIComponent(text.trim())}`)
    .join('&')
  return query === '' ? path : `${path}?${query}`
}

/** Texts of the inputs for an edited body, by name. Fields that have no input are lost. */
export function textsOf(body: unknown, inputs: readonly FormInput[]): Map<string, string> {
  return new Map(inputs.map(({ name, kind }) => [name, textOf(valueAt(body, name.split('.')), kind)]))
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => {
    return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step) ? (inner as Body)[step] : undefined
  }, value)
}

function textOf(value: unknown, kind: string): string {
  if (value === undefined || value === null) return ''
  if (kind === 'json' || (typeof value === 'object' && !Array.isArray(value))) return JSON.stringify(value)
  return Array.isArray(value) ? value.join(', ') : String(value)
}
