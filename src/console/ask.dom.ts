// Asking the gateway with the visitor's session. Laws: a failure is a sentence that says what to do, with the request's id;
// an answer of 401 ends the session for the whole page; nothing is asked again by itself.

import { signal } from '@preact/signals'

/** Why there is no answer. `status` 0: the gateway was not reached. */
export interface Trouble {
  readonly status: number
  readonly message: string
  readonly requestId: string | null
}

export type Asked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Trouble }

/** Counts sessions that were found to be over. */
export const ended = signal(0)

const UNREACHED = () =>
  navigator.onLine
    ? 'The gateway did not answer: it may be restarting. Try again in a moment.'
    : 'This device is offline: connect it, and try again.'

/** `path` with its query; `body` is sent as JSON. Platform answers are taken out of their envelope. */
export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Asked<T>> {
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const requestId = response.headers.get('x-request-id')
    const json = await response.json().catch(() => null)
    if (response.ok) {
      const isEnveloped = json !== null && typeof json === 'object' && 'error_code' in json && 'data' in json
      return { ok: true, value: (isEnveloped ? json.data : json) as T }
    }
    if (response.status === 401 && path !== '/session') ended.value++
    const message = json?.error_message ?? json?.msg ?? `The gateway answered with status ${response.status}.`
    return { ok: false, error: { status: response.status, message: String(message), requestId } }
  } catch (error) {
    if (signal?.aborted) throw error
    return { ok: false, error: { status: 0, message: UNREACHED(), requestId: null } }
  }
}
