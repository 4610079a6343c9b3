// Limits the depth of external JSON. Deep nesting is cheap to send and overflows the stack of recursive code.

/** Maximum depth. It exceeds the depth of any legitimate request or response. */
export const JSON_MAX_DEPTH = 64

/** True if brackets outside strings nest deeper than `maxDepth`. One pass, no allocation. */
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

/** The parsed value; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
