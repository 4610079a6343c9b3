// Calls of Durable Objects: bounded in time, repeated once, and of a version that we know.

const TIMEOUT_MS = 2_000

/**
 * The object's answer, undefined if there is none. One that was just restarted refuses the first call only, so `ask`
 * must take a fresh stub each time: one that failed stays broken.
 */
export async function askObject<T extends { readonly v: number } | null>(
  ask: () => Promise<T>,
  version: number,
): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), TIMEOUT_MS)
  try {
    const answer = await Promise.race([ask().catch(ask), late])
    return answer && answer.v !== version && answer.v !== version - 1 ? undefined : answer
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
