// HMAC-SHA256 with WebCrypto. It signs data that others verify, and links that the gateway itself verifies.

import { constantTimeEqual } from './secret.ts'

const utf8 = new TextEncoder()

/** Returns the signature in base64, as Standard Webhooks requires. */
export async function hmac(secret: Uint8Array, signed: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, utf8.encode(signed))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

/** Returns the signature in base64url without padding, which has 43 characters. */
export async function signatureOf(signed: string, secret: string): Promise<string> {
  const text = await hmac(utf8.encode(secret), signed)
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Verifies a signature in constant time. */
export async function isValidSignature(presented: string, signed: string, secret: string): Promise<boolean> {
  return constantTimeEqual(presented, await signatureOf(signed, secret))
}
