// Calls a Durable Object with a timeout, one retry and a version check.

import { orFallback } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'

const TIMEOUT_MS = 2_000

/**
 * Result of the object, or undefined. `ask` must create a new stub, because a stub of a restarted object stays broken.
 */
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
