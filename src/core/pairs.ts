// Pairs of neighbors in a list.

/** Each entry together with its successor. */
export const pairs = <T>(list: readonly T[]): (readonly [T, T])[] =>
  list.slice(1).map((next, at) => [list[at] as T, next])
