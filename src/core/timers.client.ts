// Timers of the platform, which are the same in Workers, browsers and Node. Pure files receive them as arguments.

import type { After } from './deadline.ts'
import { YIELD_MS } from './time.ts'

export const after: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Characters that take about 2 ms to parse or to compress. */
const TURN_CHARS = 48 * 1024

/** Characters since the last pause, and the number of pauses. All long work of an isolate shares its thread. */
let chars = 0
let pauses = 0

/** Called before each step of long work with its size in characters, it lets other work of the thread run now and then. */
export async function takeTurn(size: number): Promise<void> {
  while (chars >= TURN_CHARS) {
    const pause = pauses
    await sleep(YIELD_MS)
    // The first caller to wake begins the next turn. A caller that finds it used up pauses again.
    if (pause !== pauses) continue
    pauses++
    chars = 0
  }
  chars += size
}

/** Runs work that yields the size of each of its steps, in characters, and lets other work of the thread run in between. */
export async function inTurns<T>(work: Generator<number, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await takeTurn(value)
  }
}
