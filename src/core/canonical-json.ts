// Canonical JSON of a value, for comparing subscriptions and requests. Invariant: only the order of keys is ignored.
// The order of lists, the case of addresses and the spelling of fields matter.

/** JSON string with sorted object keys. Equal strings mean equal values. `value` must come from JSON.parse. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`
}
