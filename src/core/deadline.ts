// Work that may never end, awaited for a while: two contracts, told apart by name. Laws: what comes first counts and the
// other is dropped without a trace; whoever comes first, no timer stays behind. The work itself goes on: it is not ended.

/** Runs once after `ms`; the answer cancels. */
export type After = (ms: number, run: () => void) => () => void

/** What `work` comes to, or `late` once `ms` are over. Rejects only where the work does in time. */
export function orFallback<T, L>(work: Promise<T>, ms: number, fallback: L, after: After): Promise<T | L> {
  return raceTimer<T | L>(work, ms, (resolve) => resolve(fallback), after)
}

/** What `work` comes to; rejects once `ms` are over. */
export function orReject<T>(work: Promise<T>, ms: number, after: After): Promise<T> {
  return raceTimer(work, ms, (_, reject) => reject(new Error(`no answer within ${ms} ms`)), after)
}

function raceTimer<T>(
  work: Promise<T>,
  ms: number,
  end: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  after: After,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => end(resolve, reject))
    work.then(resolve, reject).finally(cancel)
  })
}
