// HMAC-SHA256 by WebCrypto: signs data for other verifiers, and links that the gateway verifies itself.

import { constantTimeEqual } from './secret.ts'

const utf8 = new TextEncoder()

/** Base64, as in Standard Webhooks. */
export async function hmac(secret: Uint8Array, signed: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, utf8.encode(signed))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

/** Base64url without padding, 43 characters. */
export async function signatureOf(signed: string, secret: string): Promise<string> {
  const text = await hmac(utf8.encode(secret), signed)
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Compares in constant time. */
export async function isValidSignature(presented: string, signed: string, secret: string): Promise<boolean> {
  return constantTimeEqual(presented, await signatureOf(signed, secret))
}
