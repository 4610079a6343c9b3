// Reads `/status` of a gateway.

const TIMEOUT_MS = 30_000

/** The body of the page, or the error. */
export async function readStatus(gateway: string): Promise<string> {
  try {
    return await (await fetch(`${gateway}/status`, { signal: AbortSignal.timeout(TIMEOUT_MS) })).text()
  } catch (error) {
    return String(error)
  }
}
