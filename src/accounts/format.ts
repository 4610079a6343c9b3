// Format of a key: `cqt_` (API) or `cqs_` (service), 18 random base58 characters, 8 check characters. The checksum is a
// truncated HMAC of the preceding characters, so an invented key is rejected without a lookup. Invariant: no error
// repeats a key.

import { BASE58, randomBase58 } from '../core/base58.ts'
import { err, ok, type Result } from '../core/result.ts'

export type KeyKind = 'api' | 'service'

const PREFIX: Record<KeyKind, string> = { api: 'cqt_', service: 'cqs_' }
const RANDOM_LENGTH = 18
const CHECK_LENGTH = 8
const KEY = /^(cqt|cqs)_[1-9A-HJ-NP-Za-km-z]{26}$/

/** Number of key characters that may be shown and stored: prefix and 8 of 18 random ones (58^10 stay secret). */
export const DISPLAY_LENGTH = 12

export interface ParsedKey {
  readonly kind: KeyKind
  readonly text: string
  /** The characters that the checksum covers. */
  readonly signed: string
  readonly check: string
}

/** Checks the syntax only; the checksum needs the operator's secret. The error is a hint for a person. */
export function parseKey(text: string): Result<ParsedKey, string> {
  if (KEY.test(text)) {
    const cut = text.length - CHECK_LENGTH
    const kind = text.startsWith(PREFIX.api) ? 'api' : 'service'
    return ok({ kind, text, signed: text.slice(0, cut), check: text.slice(cut) })
  }
  if (text.trim() !== text && KEY.test(text.trim()))
    return err('The API key has leading or trailing whitespace. Remove it.')
  if (/^(cqt|cqs)_/.test(text) && text.length < 30) {
    return err(`The API key is truncated: ${text.length} of 30 characters. Send the whole key.`)
  }
  return err(
    'The API key is malformed. A key is "cqt_" (or "cqs_" for a service key) followed by 26 base58 characters.',
  )
}

/** Prefix and random part of a new key, which the checksum covers. */
export function randomKeyBody(kind: KeyKind, random: (bytes: number) => Uint8Array): string {
  return PREFIX[kind] + randomBase58(RANDOM_LENGTH, random)
}

/** Check characters: the first 8 bytes of the HMAC of `signed`, modulo 58^8. */
export function checkOf(mac: Uint8Array): string {
  let number = 0n
  for (const byte of mac.subarray(0, 8)) number = number * 256n + BigInt(byte)
  let text = ''
  for (let i = 0; i < CHECK_LENGTH; i++) {
    text += BASE58[Number(number % BigInt(BASE58.length))]
    number /= BigInt(BASE58.length)
  }
  return text
}

/** Part of a key that lists and logs may show. */
export function displayPrefix(text: string): string {
  return text.slice(0, DISPLAY_LENGTH)
}
