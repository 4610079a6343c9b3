// Reads a JSON body with limits. Bytes are counted as they arrive, because the platform allows 100 MB. The nesting
// depth is limited. Invalid UTF-8 is rejected.

import { readBoundedText } from './bounded-text.ts'
import type { Failure } from './failure.ts'
import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from './json.ts'
import { err, ok, type Result } from './result.ts'

/** A typical info request has a few hundred bytes. A request with fifty wallets has about 3 KB. */
export const INFO_BODY_MAX_BYTES = 64 * 1024

/**
 * Oversized bodies are read to their end up to this size, and discarded. If the connection closed during the upload,
 * the client would never read the response.
 */
const DRAINED_MAX_BYTES = 4 * 1024 * 1024

/** Body of a `Request`: its stream and declared length. */
export interface BodySource {
  readonly chunks: AsyncIterable<Uint8Array> | null
  readonly contentLength: string | null
}

/**
 * Returns the parsed body. Fails with `not_json`, with `body_too_large`, or with `bad_field` if the nesting is too
 * deep. `empty`: the value to return for an empty body.
 */
export async function readJsonBody(
  source: BodySource,
  limitBytes: number,
  empty?: unknown,
): Promise<Result<unknown, Failure>> {
  const text = await readText(source, limitBytes)
  if (!text.ok) return text
  if (text.value === '' && empty !== undefined) return ok(empty)
  if (isDeeperThan(text.value)) {
    return err({ kind: 'bad_field', issues: [{ path: '', message: `nests deeper than ${JSON_MAX_DEPTH} levels` }] })
  }
  const value = parseJson(text.value)
  return value === undefined ? err({ kind: 'not_json' }) : ok(value)
}

/** Reads the body as a string. Stops and cancels the stream at the first byte over the limit. */
export async function readText(source: BodySource, limitBytes: number): Promise<Result<string, Failure>> {
  const tooLarge = err({ kind: 'body_too_large', limitBytes } as const)
  const declared = Number(source.contentLength ?? 0)
  if (declared > limitBytes) {
    if (declared <= DRAINED_MAX_BYTES) for await (const _ of source.chunks ?? []);
    return tooLarge
  }
  const read = await readBoundedText(source.chunks, limitBytes)
  if ('text' in read) return ok(read.text)
  return read.refused === 'too_large'
    ? tooLarge
    : err({ kind: 'not_json', hint: 'The request body is not valid UTF-8.' })
}

/** Whether a Content-Type is JSON. */
export function isJson(contentType: string | null): boolean {
  if (contentType === 'application/json') return true
  return contentType !== null && /^application\/json\s*(;|$)/i.test(contentType)
}
