// WebCrypto for links: HMAC-SHA256 with the operator's KEY_SECRET, compared in constant time.

import { constantTimeEqual } from '../../core/secret.ts'

const text = new TextEncoder()

/** In the letters of URLs, 43 of them. */
export async function signatureOf(signed: string, secret: string): Promise<string> {
  const raw = text.encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(signed)))
  return btoa(String.fromCharCode(...mac))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

export async function isSignature(presented: string, signed: string, secret: string): Promise<boolean> {
  return constantTimeEqual(presented, await signatureOf(signed, secret))
}
