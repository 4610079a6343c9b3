// Handles values that are usually available synchronously. Awaiting a microtask would take longer than producing a
// response from memory.

export type MaybePromise<T> = T | Promise<T>

/** Returns all values in order, synchronously if none of them is a promise. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.every((each): each is T => !(each instanceof Promise)) ? values : Promise.all(values)
}

/** Applies `next` to the value, synchronously if it is not a promise. */
export function andThen<T, U>(value: MaybePromise<T>, next: (result: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
