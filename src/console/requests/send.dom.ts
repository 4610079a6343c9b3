// Sends a request with the visitor’s session, and what a page shows of the response. Invariants: it sends to this host only;
// a response is shown as text.

import { inGroups } from '../../core/digit-groups.ts'
import { ANSWER } from './answer-strings.ts'

export interface Answer {
  readonly status: number
  readonly ms: number
  /** Of the body, without compression. */
  readonly bytes: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
}

/** `body` is JSON, null: none. Throws if nothing was received. */
export async function sendRequest(method: string, path: string, body: string | null): Promise<Answer> {
  const url = new URL(path, location.origin)
  if (url.origin !== location.origin) throw new Error(ANSWER.wrongPath)
  const startedMs = performance.now()
  const response = await fetch(url, {
    method,
    ...(body === null ? {} : { body, headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  return {
    status: response.status,
    ms: Math.round(performance.now() - startedMs),
    bytes: new Blob([text]).size,
    headers: [...response.headers],
    text,
  }
}

/** Status, time, and the headers that matter most, with their names. */
export function answerFacts({ status, ms, headers }: Answer): (readonly [name: string, value: string])[] {
  const values = new Map(headers)
  return [
    [ANSWER.status, String(status)],
    [ANSWER.time, `${ms} ms`],
    ...Object.entries(ANSWER.headers).flatMap(([header, name]) => {
      const value = values.get(header)
      if (value === undefined) return []
      return [[name, header === 'x-block-height' ? inGroups(Number(value)) : value] as const]
    }),
  ]
}

const SHOWN_CHARS = 100_000

/** JSON with line breaks; a text that is too long is cut. */
export function formattedBody(text: string): string {
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // The text is not JSON, so it is shown unchanged.
  }
  return shown.length <= SHOWN_CHARS ? shown : shown.slice(0, SHOWN_CHARS) + ANSWER.more(shown.length - SHOWN_CHARS)
}
