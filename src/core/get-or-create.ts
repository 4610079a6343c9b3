// A map whose values come to be when they are first asked for.

/** The value of a key, made and kept where there is none; `make` may answer anything but undefined. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}
