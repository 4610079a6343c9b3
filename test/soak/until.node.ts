// Waiting for something that another process brings about.

import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 500

/** Until it holds; what throws does not hold yet. Rejects with `words` after `withinMs`, and where the signal has come. */
export async function until(
  holds: () => Promise<boolean>,
  words: string,
  withinMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(words)
    signal?.throwIfAborted()
    await sleep(LOOK_MS)
  }
}
