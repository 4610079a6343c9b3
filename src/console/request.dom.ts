// Asking the gateway with the visitor's session. Laws: a failure is a sentence that says what to do, with the request's id;
// an answer of 401 ends the session for the whole page, and after one of 403 it is asked whose it is; what is read too soon
// is asked again when its turn has come, and nothing else is asked again by itself; what an account's own key asks keeps to
// the least limit of any plan, so that a page that is opened leaves no refusals behind.

import { signal } from '@preact/signals'
import { RequestPacer } from './request-pacer.ts'

/** Why there is no answer. `status` 0: the gateway was not reached. */
export interface RequestError {
  readonly status: number
  readonly message: string
  readonly requestId: string | null
}

export type RequestResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: RequestError }

/** Counts refusals after which this may be somebody else's session, or none. */
export const sessionRejections = signal(0)

const unreachableMessage = () =>
  navigator.onLine
    ? 'The gateway did not answer: it may be restarting. Try again in a moment.'
    : 'This device is offline: connect it, and try again.'

/** The smallest plans have four requests a second: a little less, because ways differ in length. */
const pacer = new RequestPacer(3.6)

/** Several tabs, and a page that is loaded again, share the key's limit. */
const ATTEMPTS_MAX = 4
const RETRY_WAIT_MAX_S = 5

async function waitForPacer(path: string): Promise<void> {
  const waitMs = path.startsWith('/platform/') ? pacer.reserve(Date.now()) : 0
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
}

async function fetchWithRetry(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  for (let turn = 1; ; turn++) {
    await waitForPacer(path)
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const waitS = Number(response.headers.get('retry-after') ?? Number.POSITIVE_INFINITY)
    if (response.status !== 429 || method !== 'GET' || turn === ATTEMPTS_MAX || waitS > RETRY_WAIT_MAX_S)
      return response
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000))
  }
}

/** `path` with its query; `body` is sent as JSON. Platform answers are taken out of their envelope. */
export async function request<T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<RequestResult<T>> {
  try {
    const response = await fetchWithRetry(method, path, body, signal)
    const requestId = response.headers.get('x-request-id')
    const json = await response.json().catch(() => null)
    if (response.ok) {
      const isEnveloped = json !== null && typeof json === 'object' && 'error_code' in json && 'data' in json
      return { ok: true, value: (isEnveloped ? json.data : json) as T }
    }
    // 403: another tab may have signed in as somebody else.
    if ((response.status === 401 || response.status === 403) && path !== '/session') sessionRejections.value++
    const message = json?.error_message ?? json?.msg ?? `The gateway answered with status ${response.status}.`
    return { ok: false, error: { status: response.status, message: String(message), requestId } }
  } catch (error) {
    if (signal?.aborted) throw error
    return { ok: false, error: { status: 0, message: unreachableMessage(), requestId: null } }
  }
}

/** Asks for a change, and calls `done` once it is made. Null, or why it is not: what a dialog wants to know. */
export async function requestChange<T>(
  method: string,
  path: string,
  body: unknown,
  onDone: (value: T) => void,
): Promise<RequestError | null> {
  const answer = await request<T>(method, path, body)
  if (answer.ok) onDone(answer.value)
  return answer.ok ? null : answer.error
}
