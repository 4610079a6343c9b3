// Calls of Durable Objects: bounded in time, repeated once, and of a version that we know.

import { orFallback } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'

const TIMEOUT_MS = 2_000

/** The object's answer, undefined without one. `ask` takes a fresh stub: one whose object restarted stays broken. */
export async function askObject<T extends { readonly v: number } | null>(
  ask: () => Promise<T>,
  version: number,
): Promise<T | undefined> {
  try {
    const answer = await orFallback(ask().catch(ask), TIMEOUT_MS, undefined, after)
    return answer && answer.v !== version && answer.v !== version - 1 ? undefined : answer
  } catch {
    return undefined
  }
}
