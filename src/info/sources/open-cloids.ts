// `"cloid":null` for orders that leave it out, written into the text itself: every other byte stays as it came, numbers
// of fields that nobody knows yet included.

const CLOID_NULL = '"cloid":null'

/** The JSON text of an array with the key added to every object in it that lacks it; any other text unchanged. */
export function withCloids(body: string): string {
  if (!body.trimStart().startsWith('[')) return body
  const parts: string[] = []
  let kept = 0
  let depth = 0
  let order: { isEmpty: boolean; hasCloid: boolean } | null = null
  for (let at = 0; at < body.length; at++) {
    const char = body[at]
    if (char === '"') {
      const end = endOfString(body, at)
      if (depth === 2 && order) {
        order.isEmpty = false
        if (isCloid(body.slice(at, end)) && isKey(body, end)) order.hasCloid = true
      }
      at = end - 1
    } else if (char === '{' || char === '[') {
      depth++
      if (depth === 2) order = char === '{' ? { isEmpty: true, hasCloid: false } : null
    } else if (char === '}' || char === ']') {
      if (depth === 2 && order && !order.hasCloid) {
        parts.push(body.slice(kept, at), order.isEmpty ? CLOID_NULL : `,${CLOID_NULL}`)
        kept = at
      }
      depth--
    }
  }
  return parts.length === 0 ? body : parts.join('') + body.slice(kept)
}

/** Index after the closing quote of the string that begins at `at`. */
function endOfString(body: string, at: number): number {
  let end = at + 1
  while (body[end] !== '"') end += body[end] === '\\' ? 2 : 1
  return end + 1
}

/** A key may be escaped, such as `"\u0063loid"`. */
function isCloid(quoted: string): boolean {
  return quoted === '"cloid"' || (quoted.includes('\\') && JSON.parse(quoted) === 'cloid')
}

function isKey(body: string, end: number): boolean {
  let at = end
  while (body[at] === ' ' || body[at] === '\n' || body[at] === '\r' || body[at] === '\t') at++
  return body[at] === ':'
}
