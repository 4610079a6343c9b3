// Applies a plan to the JSON of a frame without parsing it. Values are copied unchanged. Frames are valid JSON, because
// this process wrote or parsed them.
// biome-ignore-all lint/style/noNonNullAssertion: positions index the plan's own fields, in the inner loop

import type { Plan } from './plan.ts'

const QUOTE = 34
const COMMA = 44
const ARRAY = 91
const BACKSLASH = 92
const ARRAY_END = 93
const OBJECT = 123
const OBJECT_END = 125
const SPACE = 32

/** Projects the object in `text` according to the plan. */
export function project(plan: Plan, text: string): string {
  return new Reader(text).value(plan, 0)
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /**
   * Projects the value at the current position. `lists` is the number of list levels around its objects. Null stays
   * null.
   */
  value(plan: Plan | null, lists: number): string {
    const start = this.#skipSpace()
    const first = this.#text.charCodeAt(start)
    if (plan && lists > 0 && first === ARRAY) return this.#list(plan, lists - 1)
    if (plan && lists === 0 && (first === OBJECT || first === ARRAY)) {
      if (plan.exactFields && this.#isExact(plan)) return this.#text.slice(start, this.#at)
      this.#at = start
      return first === OBJECT ? this.#object(plan) : this.#pair(plan)
    }
    this.#skipValue()
    return this.#text.slice(start, this.#at)
  }

  #list(plan: Plan, lists: number): string {
    const { exactFields } = plan
    const start = this.#at
    if (exactFields) {
      // Most lists match the plan exactly and are copied in one piece.
      if (this.#everyItem(() => this.#areExact(plan, lists))) return this.#text.slice(start, this.#at)
      this.#at = start
    }
    let items = ''
    this.#everyItem(() => {
      items += `${items === '' ? '' : ','}${this.value(plan, lists)}`
      return true
    })
    return `[${items}]`
  }

  #areExact(plan: Plan, lists: number): boolean {
    const first = this.#text.charCodeAt(this.#skipSpace())
    if (first === ARRAY && lists > 0) return this.#everyItem(() => this.#areExact(plan, lists - 1))
    if (first === OBJECT && lists === 0) return this.#isExact(plan)
    this.#skipValue()
    return true
  }

  /** Reads past an object that matches the plan exactly. For any other object, stops within it and returns false. */
  #isExact({ exactFields, fields }: Plan): boolean {
    let index = 0
    const isIt = this.#everyProperty((name) => {
      if (name !== exactFields![index]) return false
      const { plan, lists } = fields[index++]!
      if (plan) return this.#areExact(plan, lists)
      this.#skipValue()
      return true
    })
    return isIt && index === fields.length
  }

  #object(plan: Plan): string {
    const parts: string[] = []
    this.#everyProperty((name) => {
      this.#projectField(plan, name, parts)
      return true
    })
    return `{${render(plan, parts)}}`
  }

  #pair(plan: Plan): string {
    const parts: string[] = []
    let member = 0
    this.#everyItem(() => {
      this.#projectField(plan, member++, parts)
      return true
    })
    return `{${render(plan, parts)}}`
  }

  /** Reads past a value and stores its projection if it is selected. */
  #projectField({ positions, fields }: Plan, name: string | number, parts: string[]): void {
    const index = positions.get(name)
    if (index === undefined) return this.#skipValue()
    const { plan, lists } = fields[index]!
    parts[index] = this.value(plan, lists)
  }

  /** Calls `read` for each property until it returns false. `read` must read past the value. */
  #everyProperty(read: (name: string) => boolean): boolean {
    this.#at++
    for (;;) {
      const start = this.#skipSpace()
      const next = this.#text.charCodeAt(start)
      if (next === OBJECT_END) break
      if (next === COMMA) {
        this.#at++
        continue
      }
      this.#skipValue()
      const name = this.#text.slice(start + 1, this.#at - 1)
      this.#skipSpace()
      this.#at++
      if (!read(name)) return false
    }
    this.#at++
    return true
  }

  #everyItem(read: () => boolean): boolean {
    this.#at++
    for (;;) {
      const next = this.#text.charCodeAt(this.#skipSpace())
      if (next === ARRAY_END) break
      if (next === COMMA) this.#at++
      else if (!read()) return false
    }
    this.#at++
    return true
  }

  /** Reads past a value. */
  #skipValue(): void {
    const text = this.#text
    const first = text.charCodeAt(this.#skipSpace())
    if (Number.isNaN(first)) throw new Error('the frame is not JSON')
    if (first === QUOTE) return this.#skipString()
    if (first !== OBJECT && first !== ARRAY) {
      for (let code = first; code > SPACE && code !== COMMA && code !== ARRAY_END && code !== OBJECT_END; )
        code = text.charCodeAt(++this.#at)
      return
    }
    let depth = 0
    do {
      const code = text.charCodeAt(this.#at)
      if (Number.isNaN(code)) throw new Error('the frame is not JSON')
      if (code === QUOTE) this.#skipString()
      else {
        if (code === OBJECT || code === ARRAY) depth++
        else if (code === OBJECT_END || code === ARRAY_END) depth--
        this.#at++
      }
    } while (depth > 0)
  }

  #skipString(): void {
    const text = this.#text
    let end = text.indexOf('"', this.#at + 1)
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
    this.#at = end < 0 ? text.length : end + 1
  }

  /** Position of the next token. */
  #skipSpace(): number {
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at++
    return this.#at
  }
}

function isEscaped(text: string, end: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** Renders the parts of an object. Missing values become null. */
function render({ fields }: Plan, parts: readonly string[]): string {
  let text = ''
  for (let index = 0; index < fields.length; index++) {
    const { label, constant } = fields[index]!
    text += `${index === 0 ? '' : ','}${label}${constant ?? parts[index] ?? 'null'}`
  }
  return text
}
