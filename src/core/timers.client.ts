// Timers of the platform, which are the same in Workers, browsers and Node. Pure files receive them as arguments.

import type { After } from './deadline.ts'

export const after: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
