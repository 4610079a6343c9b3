// What is mostly known at once, and else waited for: a turn of waiting takes longer than an answer from memory.

export type MaybePromise<T> = T | Promise<T>

/** The results in order: at once where all are. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.every((each): each is T => !(each instanceof Promise)) ? values : Promise.all(values)
}

/** What follows from a result: at once where that is. */
export function andThen<T, U>(value: MaybePromise<T>, next: (result: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
