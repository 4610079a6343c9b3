// Timers of the platform, which are the same in Workers, browsers and Node. Pure files receive them as arguments.

import type { After } from './deadline.ts'

export const after: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Characters that take about 5 ms to parse or to compress. */
const TURN_CHARS = 128 * 1024

/** Called with the size of each step of long work, it lets other work of the thread run now and then. */
export function turns(): (chars: number) => Promise<void> {
  let sum = 0
  return async (chars) => {
    sum += chars
    if (sum < TURN_CHARS) return
    sum = 0
    await sleep(0)
  }
}

/** Runs work that yields the size of each of its steps, in characters, and lets other work of the thread run in between. */
export async function inTurns<T>(work: Generator<number, T>): Promise<T> {
  const take = turns()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await take(value)
  }
}
