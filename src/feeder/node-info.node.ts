// HTTP requests to the node: a probe, and the order-level snapshot, which the node writes to a local file.

/** Generous, because the real exchange's snapshot has hundreds of megabytes. */
const RESPONSE_TIMEOUT_MS = 120_000
const PROBE_TIMEOUT_MS = 5_000
const ERROR_UNITS = 200

/** Why the node's HTTP does not work; null if it does. */
export async function infoError(infoUrl: string, signal: AbortSignal): Promise<string | null> {
  const what = `the node's HTTP at ${new URL(infoUrl).host} (--info)`
  const hint = 'Run the node with --serve-info and set --info to its URL. Until then the order books stay unknown'
  try {
    const response = await post(infoUrl, { type: 'exchangeStatus' }, PROBE_TIMEOUT_MS, signal)
    await response.body?.cancel()
    // A node that does not know this request type still answers, which shows that it is running.
    return [404, 405].includes(response.status) || response.status >= 500
      ? `${what} returned ${response.status}. ${hint}`
      : null
  } catch (error) {
    return `${what} cannot be reached (${errorMessage(error)}). ${hint}`
  }
}

/** The first line of an error, and its cause. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error as { cause?: NodeJS.ErrnoException }
  const why = cause instanceof Error ? cause.message || cause.code : undefined
  return `${error.message.split('\n')[0]}${why ? `: ${why}` : ''}`
}

async function post(infoUrl: string, body: object, timeoutMs: number, signal?: AbortSignal): Promise<Response> {
  return await fetch(`${infoUrl.replace(/\/(?:info\/?)?$/, '')}/info`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  })
}

/** Asks the node to write its books to `outPath`. The node chooses their height. Throws with a message. */
export async function requestSnapshot(infoUrl: string, outPath: string): Promise<void> {
  const body = {
    type: 'fileSnapshot',
    request: { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false },
    outPath,
    includeHeightInOutput: true,
  }
  const response = await post(infoUrl, body, RESPONSE_TIMEOUT_MS)
  const text = await response.text()
  if (!response.ok)
    throw new Error(`the node returned ${response.status} for fileSnapshot: ${text.slice(0, ERROR_UNITS)}`)
}
