// Neighbors in a list.

/** Each entry but the last one with the entry behind it. */
export const pairs = <T>(list: readonly T[]): (readonly [T, T])[] =>
  list.slice(1).map((next, at) => [list[at] as T, next])
