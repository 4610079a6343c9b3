// Sends requests with the visitor's session. Invariants: every failure has a message that says what to do, and the request
// id; a 401 or 403 makes the page check its session; requests that were rate limited are retried, because they had no
// effect; requests to `/platform/` stay below the lowest limit of any plan, so that opening a page causes no rejected ones.

import { signal } from '@preact/signals'
import { adoptServerTime } from './clock.dom.ts'
import { RequestPacer } from './request-pacer.ts'
import { REQUEST } from './request-strings.ts'

/** `status` is 0 if the gateway was not reached. */
export interface RequestError {
  readonly status: number
  readonly message: string
  readonly requestId: string | null
}

export type RequestResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: RequestError }

/** Counts events after which the session may have ended or changed: 401 and 403 responses, and messages of other tabs. */
export const sessionDoubts = signal(0)

const unreachableMessage = () => (navigator.onLine ? REQUEST.unreachable : REQUEST.offline)

/** The smallest plans allow four requests per second; network jitter needs some margin. */
const pacer = new RequestPacer(3.6)

/** Other tabs and earlier page loads share the limit of the key, so a request may still be rate limited. */
const ATTEMPTS_MAX = 4
const RETRY_WAIT_MAX_S = 5

async function waitForPacer(path: string): Promise<void> {
  const waitMs = path.startsWith('/platform/') ? pacer.reserve(Date.now()) : 0
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
}

async function fetchWithRetry(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    await waitForPacer(path)
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const waitS = Number(response.headers.get('retry-after') ?? Number.POSITIVE_INFINITY)
    if (response.status !== 429 || attempt === ATTEMPTS_MAX || waitS > RETRY_WAIT_MAX_S) return response
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000))
  }
}

/** `path` includes its query; `body` is sent as JSON. Returns platform responses without their envelope. */
export async function request<T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<RequestResult<T>> {
  try {
    const response = await fetchWithRetry(method, path, body, signal)
    adoptServerTime(response.headers.get('date'))
    const requestId = response.headers.get('x-request-id')
    const json = await response.json().catch(() => null)
    if (response.ok) {
      const isEnveloped = json !== null && typeof json === 'object' && 'error_code' in json && 'data' in json
      return { ok: true, value: (isEnveloped ? json.data : json) as T }
    }
    // After a 403 another tab may have signed in with a different key.
    if ((response.status === 401 || response.status === 403) && path !== '/session') sessionDoubts.value++
    const message = json?.error_message ?? json?.msg ?? REQUEST.status(response.status)
    return { ok: false, error: { status: response.status, message: String(message), requestId } }
  } catch (error) {
    if (signal?.aborted) throw error
    return { ok: false, error: { status: 0, message: unreachableMessage(), requestId: null } }
  }
}

/** Requests a change and calls `onDone` with the response. Returns null or the error, as dialogs need it. */
export async function requestChange<T>(
  method: string,
  path: string,
  body: unknown,
  onDone: (value: T) => void,
): Promise<RequestError | null> {
  const result = await request<T>(method, path, body)
  if (result.ok) onDone(result.value)
  return result.ok ? null : result.error
}
