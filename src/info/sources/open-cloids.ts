// Adds `"cloid":null` to orders without a `cloid`, directly in the JSON string, so that every other byte stays unchanged,
// including numbers of unknown fields.

const CLOID_NULL = '"cloid":null'

/** Adds the key to every object of a JSON array that lacks it; returns any other string unchanged. */
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

/** Index after the closing quote of the string that starts at `at`. */
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
