// Waits for effects of another process.

import { setTimeout as sleep } from 'node:timers/promises'

interface WaitOptions {
  readonly withinMs: number
  readonly everyMs?: number
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Resolves once the condition holds; an error counts as false. Rejects with `message` after `withinMs`, and when the
 * signal aborts.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  message: string,
  { withinMs, everyMs = 250, signal }: WaitOptions,
): Promise<void> {
  const deadline = Date.now() + withinMs
  const attempt = async () => holds()
  while (!(await attempt().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(message)
    signal?.throwIfAborted()
    await sleep(everyMs)
  }
}
