// Locates values in a JSON string, so that they can be copied without parsing. Numbers keep their digits, and objects
// keep their order. Precondition: the string is valid JSON; otherwise the result is undefined.

/** Range from the first character of a value to just after its last one. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Elements of a top-level array. */
export function elementsOf(text: string): Span[] {
  const elements: Span[] = []
  let at = afterSpace(text, afterSpace(text, 0) + 1)
  while (text[at] !== ']') {
    const end = endOfValue(text, at)
    elements.push({ start: at, end })
    at = afterSpace(text, end)
    if (text[at] === ',') at = afterSpace(text, at + 1)
  }
  return elements
}

/** Values of the object at or after `from`, in the order of `names`. The last duplicate counts, as in JSON.parse. */
export function membersOf(text: string, from: number, names: readonly string[]): readonly (Span | undefined)[] {
  const members = new Array<Span | undefined>(names.length)
  let at = afterSpace(text, afterSpace(text, from) + 1)
  while (text[at] !== '}') {
    const nameEnd = endOfString(text, at)
    const name = text.slice(at + 1, nameEnd - 1)
    const start = afterSpace(text, afterSpace(text, nameEnd) + 1)
    const end = endOfValue(text, start)
    const index = names.indexOf(name.includes('\\') ? JSON.parse(`"${name}"`) : name)
    if (index >= 0) members[index] = { start, end }
    at = afterSpace(text, end)
    if (text[at] === ',') at = afterSpace(text, at + 1)
  }
  return members
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 32) at++
  return at
}

/** End of the string that starts at `from`. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === 92) escapes++
    if (escapes % 2 === 0) return end + 1
  }
}

function endOfValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return endOfString(text, from)
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 34) at = endOfString(text, at) - 1
    else if (unit === 123 || unit === 91) depth++
    else if (unit === 125 || unit === 93) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (unit === 44 || unit <= 32)) return at
  }
  return text.length
}
