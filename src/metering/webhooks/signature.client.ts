// What Standard Webhooks signs with.

/** HMAC-SHA256, base64. */
export async function hmac(secret: Uint8Array<ArrayBuffer>, signed: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(signed))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}
