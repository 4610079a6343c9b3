// Rearranges the lines of a page so that the values of each field are adjacent. Fills then take a quarter fewer bytes
// after gzip. Invariant: `toLines(toColumns(text))` is `text`, for all text without the two control characters below.

/** Stands for a value in a template. JSON text has no control characters. */
const SLOT = '\0'
const SECTION = '\x01'
/** A bracket, a field name, or a value. `true`, `false` and `null` stay in the template. */
const TOKEN = /[[\]]|"(?:[^"\\]|\\.)*":?|-?\d[\d.eE+-]*/g
const TEMPLATE_TOKEN = new RegExp(`[[\\]]|"(?:[^"\\\\]|\\\\.)*":|${SLOT}`, 'g')
/** Later values of a list share a column, because each column takes memory. */
const LAST_PLACE = 63
const WHOLE = /^(?:0|[1-9]\d{0,15})$/

/** How the values of a column are written. */
const STRINGS = '"'
const DIFFERENCES = '+'
const AS_IS = '='

/** Names a value after its field, or after the depth of its list and its place there. */
class Namer {
  #field: string | null = null
  readonly #places = [0]

  /** Moves past a bracket or a field name. */
  pass(token: string): void {
    this.#field = null
    if (token === '[') this.#places.push(0)
    else if (token === ']') this.#places.pop()
    else this.#field = token
  }

  value(): string {
    const field = this.#field
    this.#field = null
    if (field !== null) return field
    const depth = this.#places.length - 1
    const place = this.#places[depth] ?? 0
    this.#places[depth] = Math.min(place + 1, LAST_PLACE)
    return `${depth}.${place}`
  }
}

const isName = (token: string): boolean => token === '[' || token === ']' || token.endsWith(':')

export function toColumns(text: string): string {
  const templates = new Map<string, number>()
  const uses: number[] = []
  const columns = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const namer = new Namer()
    const template = line.replace(TOKEN, (token) => {
      if (isName(token)) {
        namer.pass(token)
        return token
      }
      const name = namer.value()
      const column = columns.get(name)
      if (column) column.push(token)
      else columns.set(name, [token])
      return SLOT
    })
    const known = templates.get(template)
    uses.push(known ?? templates.size)
    if (known === undefined) templates.set(template, templates.size)
  }
  const sections = [[...templates.keys()].join('\n'), uses.join('\n'), ...[...columns.values()].map(columnText)]
  return sections.join(SECTION)
}

/** Throws if the text is not from `toColumns`. */
export function toLines(text: string): string {
  const [templates = '', uses, ...columns] = text.split(SECTION)
  if (uses === undefined) throw new Error('the text is not columns')
  const columnOf = columnsByName(columns)
  const known = templates.split('\n').map((template) => parseTemplate(template, columnOf))
  const lineOf = (use: string): string => {
    const template = known[Number(use)]
    if (!template) throw new Error(`no template ${use}`)
    let line = template.start
    for (const { column, after } of template.slots) line += column.next() + after
    return line
  }
  return uses.split('\n').map(lineOf).join('\n')
}

interface Template {
  readonly start: string
  readonly slots: readonly { readonly column: Column; readonly after: string }[]
}

function parseTemplate(template: string, columnOf: (name: string) => Column): Template {
  const [start = '', ...pieces] = template.split(SLOT)
  const namer = new Namer()
  const names: string[] = []
  for (const [token] of template.matchAll(TEMPLATE_TOKEN))
    if (token === SLOT) names.push(namer.value())
    else namer.pass(token)
  return { start, slots: pieces.map((after, at) => ({ column: columnOf(names[at] ?? ''), after })) }
}

/** Columns have no names: they are in the order in which the templates first name them. */
function columnsByName(texts: readonly string[]): (name: string) => Column {
  const byName = new Map<string, Column>()
  return (name) => {
    const known = byName.get(name)
    if (known) return known
    const text = texts[byName.size]
    if (text === undefined) throw new Error('a column is missing')
    const column = new Column(text)
    byName.set(name, column)
    return column
  }
}

class Column {
  readonly #values: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#values = columnValues(text)
  }

  next(): string {
    const value = this.#values[this.#at++]
    if (value === undefined) throw new Error('a column is too short')
    return value
  }
}

function columnText(values: readonly string[]): string {
  if (values.every((value) => value.startsWith('"')))
    return STRINGS + values.map((value) => value.slice(1, -1)).join('\n')
  if (!values.every((value) => WHOLE.test(value) && Number.isSafeInteger(Number(value))))
    return AS_IS + values.join('\n')
  let last = 0
  const differences = values.map((value) => {
    const difference = Number(value) - last
    last += difference
    return difference
  })
  return DIFFERENCES + differences.join('\n')
}

function columnValues(text: string): string[] {
  const values = text.slice(1).split('\n')
  if (text[0] === AS_IS) return values
  if (text[0] === STRINGS) return values.map((value) => `"${value}"`)
  let last = 0
  return values.map((difference) => {
    last += Number(difference)
    return String(last)
  })
}
