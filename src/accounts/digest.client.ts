// WebCrypto for keys: hashing, checksum and generation. format.ts has the pure part.

import { BoundedMap } from '../core/bounded-map.ts'
import { type KeyHash, keyHashOf } from '../core/ids.ts'
import { constantTimeEqual } from '../core/secret.ts'
import { checkOf, type KeyKind, randomKeyBody } from './format.ts'

const text = new TextEncoder()
type MacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
/** Has one entry in practice. It is bounded for tests that use many secrets. */
const macKeys = new BoundedMap<string, Promise<MacKey>>(8)

/** SHA-256 of a key in hex, the only form in which a key is stored or leaves the edge. */
export async function hashKey(key: string): Promise<KeyHash> {
  return keyHashOf(await sha256(key))
}

/** SHA-256 of a string, in hex. */
export async function sha256(of: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', text.encode(of))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Generates a key. The caller shows it once and stores only its hash. */
export async function mintKey(kind: KeyKind, secret: string): Promise<string> {
  return withCheck(
    randomKeyBody(kind, (bytes) => crypto.getRandomValues(new Uint8Array(bytes))),
    secret,
  )
}

/** The generated string, followed by its check characters. */
export async function withCheck(signed: string, secret: string): Promise<string> {
  return signed + (await checkFor(signed, secret))
}

/** Verifies check characters against this operator's secret. */
export async function isCheckValid(
  { signed, check }: { readonly signed: string; readonly check: string },
  secret: string,
): Promise<boolean> {
  return constantTimeEqual(check, await checkFor(signed, secret))
}

async function checkFor(signed: string, secret: string): Promise<string> {
  let key = macKeys.get(secret)
  if (key === undefined) {
    key = crypto.subtle.importKey('raw', text.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    macKeys.set(secret, key)
  }
  return checkOf(new Uint8Array(await crypto.subtle.sign('HMAC', await key, text.encode(signed))))
}
