// Creates the values of a map on first access.

/** Returns the value of a key. If there is none, creates and stores it. `create` must not return undefined. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}
