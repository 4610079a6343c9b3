// One text per JSON value: what tells whether two subscription bodies are the same one, or two requests.
// Law: the exact value decides. The order of keys means nothing; everything else does, also the order of a list, the
// case of an address, and which of several spellings of a field was written.

/** JSON text with the keys of every object sorted: equal texts, equal values. `value` comes from JSON.parse. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`
}
