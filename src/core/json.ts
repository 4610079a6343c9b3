// Limits the depth of external JSON. Deeply nested JSON is cheap to send but overflows the stack of recursive code.

/** Maximum depth. No legitimate request or response is nested this deep. */
export const JSON_MAX_DEPTH = 64

/** Whether brackets outside of strings are nested deeper than `maxDepth`. It needs one pass and allocates nothing. */
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

/** Returns the parsed value; undefined if the JSON is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
