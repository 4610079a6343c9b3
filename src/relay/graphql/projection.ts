// What a plan takes of the JSON text of a frame, as text: values are copied as they stand, digit by digit, and nothing is
// parsed. Texts are valid JSON, for this process wrote them or parsed them before.
// biome-ignore-all lint/style/noNonNullAssertion: places are those of the plan's own fields; this is the inner loop of every frame.

import type { Plan } from './plan.ts'

const QUOTE = 34
const COMMA = 44
const ARRAY = 91
const BACKSLASH = 92
const ARRAY_END = 93
const OBJECT = 123
const OBJECT_END = 125
const SPACE = 32

/** The object that the plan makes of the object that is the text. */
export function project(plan: Plan, text: string): string {
  return new Reader(text).value(plan, 0)
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** What the plan takes of the value that begins here, within so many lists. Null stays null. */
  value(plan: Plan | null, lists: number): string {
    const begin = this.#skipSpace()
    const first = this.#text.charCodeAt(begin)
    if (plan && lists > 0 && first === ARRAY) return this.#list(plan, lists - 1)
    if (plan && lists === 0 && (first === OBJECT || first === ARRAY)) {
      if (plan.exactFields && this.#isExact(plan)) return this.#text.slice(begin, this.#at)
      this.#at = begin
      return first === OBJECT ? this.#object(plan) : this.#pair(plan)
    }
    this.#skipValue()
    return this.#text.slice(begin, this.#at)
  }

  #list(plan: Plan, lists: number): string {
    const { exactFields } = plan
    const begin = this.#at
    if (exactFields) {
      // Most are as the catalogue has them: then the list is taken in one piece.
      if (this.#everyItem(() => this.#areExact(plan, lists))) return this.#text.slice(begin, this.#at)
      this.#at = begin
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

  /** Reads past an object; false, somewhere within it, where it is not just what the plan takes. */
  #isExact({ exactFields, fields }: Plan): boolean {
    let place = 0
    const isIt = this.#everyProperty((name) => {
      if (name !== exactFields![place]) return false
      const { plan, lists } = fields[place++]!
      if (plan) return this.#areExact(plan, lists)
      this.#skipValue()
      return true
    })
    return isIt && place === fields.length
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

  /** Reads past a value and keeps what the plan takes of it. */
  #projectField({ positions, fields }: Plan, name: string | number, parts: string[]): void {
    const place = positions.get(name)
    if (place === undefined) return this.#skipValue()
    const { plan, lists } = fields[place]!
    parts[place] = this.value(plan, lists)
  }

  /** Calls for each property, whose value `read` reads past, until it says no. */
  #everyProperty(read: (name: string) => boolean): boolean {
    this.#at++
    for (;;) {
      const begin = this.#skipSpace()
      const next = this.#text.charCodeAt(begin)
      if (next === OBJECT_END) break
      if (next === COMMA) {
        this.#at++
        continue
      }
      this.#skipValue()
      const name = this.#text.slice(begin + 1, this.#at - 1)
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
    if (Number.isNaN(first)) throw new Error('the text of a frame is no JSON')
    if (first === QUOTE) return this.#skipString()
    if (first !== OBJECT && first !== ARRAY) {
      for (let code = first; code > SPACE && code !== COMMA && code !== ARRAY_END && code !== OBJECT_END; )
        code = text.charCodeAt(++this.#at)
      return
    }
    let depth = 0
    do {
      const code = text.charCodeAt(this.#at)
      if (Number.isNaN(code)) throw new Error('the text of a frame is no JSON')
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

  /** Where what comes next begins. */
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

/** What is not there is null. */
function render({ fields }: Plan, parts: readonly string[]): string {
  let text = ''
  for (let place = 0; place < fields.length; place++) {
    const { label, constant } = fields[place]!
    text += `${place === 0 ? '' : ','}${label}${constant ?? parts[place] ?? 'null'}`
  }
  return text
}
