// Values that are usually available synchronously. Awaiting a microtask takes longer than a response from memory.

export type MaybePromise<T> = T | Promise<T>

/** All values in order, synchronously if none is a promise. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.every((each): each is T => !(each instanceof Promise)) ? values : Promise.all(values)
}

/** Applies `next` to the value, synchronously if it is not a promise. */
export function andThen<T, U>(value: MaybePromise<T>, next: (result: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
