// Creates map values on first access.

/** The value of a key. Creates and stores a missing value; `create` must not return undefined. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}
