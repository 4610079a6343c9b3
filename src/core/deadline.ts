// Two ways to await work that may never finish: with a fallback value, or with a rejection. Invariants: only the first
// outcome counts; no timer is left running. The work itself is not canceled.

/** Runs a callback once after `ms`. The returned function cancels it. */
export type After = (ms: number, run: () => void) => () => void

/**
 * Returns the result of `work`, or `fallback` if it takes longer than `ms`. Rejects only if the work rejects before
 * that.
 */
export function orFallback<T, L>(work: Promise<T>, ms: number, fallback: L, after: After): Promise<T | L> {
  return raceTimer<T | L>(work, ms, (resolve) => resolve(fallback), after)
}

/** Returns the result of `work`. Rejects if it takes longer than `ms`. */
export function orReject<T>(work: Promise<T>, ms: number, after: After): Promise<T> {
  return raceTimer(work, ms, (_, reject) => reject(new Error(`no answer within ${ms} ms`)), after)
}

function raceTimer<T>(
  work: Promise<T>,
  ms: number,
  end: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  after: After,
): Promise<T> {
  // `work` may belong to another request. workerd continues the caller in its own request only if the promise records
  // that request. V8's optimized code does not record it for `new Promise`.
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const cancel = after(ms, () => end(resolve, reject))
  work.then(resolve, reject)
  return promise.finally(cancel)
}
