// What is mostly known at once, and else waited for: a turn of waiting takes longer than an answer from memory.

export type Soon<T> = T | Promise<T>

/** The results in order: at once where all are. */
export function together<T>(soon: readonly Soon<T>[]): Soon<readonly T[]> {
  return soon.every((each): each is T => !(each instanceof Promise)) ? soon : Promise.all(soon)
}

/** What follows from a result: at once where that is. */
export function follow<T, U>(soon: Soon<T>, next: (result: T) => Soon<U>): Soon<U> {
  return soon instanceof Promise ? soon.then(next) : next(soon)
}
