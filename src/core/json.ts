// JSON from outside, bounded in depth: deep nesting is cheap to send and makes recursive code overflow its stack.

/** Deeper than anything the exchange or a client has reason to send. */
export const JSON_MAX_DEPTH = 64

/** True where brackets outside strings nest deeper than `maxDepth`. One pass, no allocation. */
export function isDeeperThan(text: string, maxDepth: number = JSON_MAX_DEPTH): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (inString) {
      if (unit === 92) i++
      else if (unit === 34) inString = false
    } else if (unit === 34) inString = true
    else if (unit === 91 || unit === 123) {
      if (++depth > maxDepth) return true
    } else if (unit === 93 || unit === 125) depth--
  }
  return false
}

/** The value of a text; undefined, which no JSON text is, where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
