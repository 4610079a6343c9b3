// One request to a destination: bounded in time and in what is read of the answer, and never led elsewhere by a redirect.

import { orLate } from '../../core/deadline.ts'
import { after } from '../../core/timers.client.ts'
import { visible } from '../../core/visible.ts'
import type { Egress } from '../../egress/egress.client.ts'
import type { Outcome } from '../batch.ts'
import { MASK } from '../secrets.ts'

const TIMEOUT_MS = 30_000
const ANSWER_BYTES = 64 * 1024
/** Of an answer in words for the owner. */
const WORDS_MOST = 200

export interface HttpRequest {
  readonly url: string
  readonly method?: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
}

export type HttpAnswer =
  | { readonly status: number; readonly text: string; readonly retryAfterMs: number | null }
  | { readonly failed: string }

/** Never rejects: whatever goes wrong is an answer. `mostBytes`: what is read of the answer. */
export async function exchange(
  request: HttpRequest,
  egress: Egress,
  { mostBytes = ANSWER_BYTES, patienceMs = TIMEOUT_MS } = {},
): Promise<HttpAnswer> {
  const url = new URL(request.url)
  const refusal = await egress.refusal(url.hostname, url.protocol === 'https:')
  if (refusal !== null) return { failed: refusal }
  // A signal alone does not end what is read of a body on every platform.
  const late = new AbortController()
  const answer = await orLate(answered(url, request, late.signal, mostBytes), patienceMs, null, after)
  late.abort()
  return answer ?? { failed: `no answer within ${patienceMs / 1000} s` }
}

async function answered(
  url: URL,
  { method = 'POST', headers, body }: HttpRequest,
  signal: AbortSignal,
  mostBytes: number,
): Promise<HttpAnswer> {
  try {
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal })
    const { status } = response
    const text = await textOf(response, mostBytes)
    return { status, text, retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()) }
  } catch {
    return { failed: 'the destination could not be reached' }
  }
}

/** What an answer means where 2xx is success and nothing else; `bytes` were sent, and words repeat no secret. */
export function outcomeOf(answer: HttpAnswer, bytes: number, secrets: readonly string[]): Outcome {
  if ('failed' in answer) return { ok: false, words: answer.failed }
  const { status, text, retryAfterMs: waitMs } = answer
  if (status >= 200 && status < 300) return { ok: true, bytes }
  const isRedirect = status >= 300 && status < 400
  const said = isRedirect ? 'redirects are not followed' : excerpt(text, secrets)
  const words = `the destination answered ${status}${said === '' ? '' : `: ${said}`}`
  return { ok: false, words, ...(waitMs !== null && { retryAfterMs: waitMs }) }
}

/** For one line. Whoever may change a path of a destination must not read its secret in what that path answers. */
export function excerpt(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]).filter((form) => form !== '')
  const hushed = forms.reduce((rest, form) => rest.replaceAll(form, MASK), text.trim())
  return visible(hushed.slice(0, WORDS_MOST))
}

/** Of HTTP, whatever letters user and password have. */
export function basic(user: string, password: string): string {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`
}

async function textOf(response: Response, mostBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; bytes < mostBytes; ) {
    const { value, done } = await reader.read()
    if (done) return text
    bytes += value.byteLength
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel().catch(() => undefined)
  return text
}

function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const seconds = /^\d{1,6}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
