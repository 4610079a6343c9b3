// Canonical JSON of a value, used to compare subscriptions and requests. Invariant: only key order is ignored.
// List order, address case and alternative spellings of a field all matter.

/** JSON string with sorted object keys. Equal strings mean equal values. `value` must come from JSON.parse. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`
}
