// The timers of the platform, the same in Workers, browsers and Node: what pure files take as an argument.

import type { After } from './deadline.ts'

export const after: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
