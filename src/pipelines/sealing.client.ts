// Encrypts secrets at rest with AES-256-GCM. HKDF derives the key from the operator's KEY_SECRET; each secret has a
// fresh nonce and the record's ID as additional data. Invariant: a sealed secret opens only for its record and with the
// same KEY_SECRET.

const text = new TextEncoder()
const VERSION = '1'
const NONCE_BYTES = 12
const PURPOSE = 'weir/pipeline-secrets/1'

export async function seal(secret: string, id: string, keySecret: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const cipher = await crypto.subtle.encrypt(algorithm(iv, id), await keyOf(keySecret), text.encode(secret))
  return [VERSION, base64(iv), base64(new Uint8Array(cipher))].join('.')
}

/** Null if decryption fails. */
export async function unseal(sealed: string, id: string, keySecret: string): Promise<string | null> {
  const [version, iv = '', cipher = ''] = sealed.split('.')
  if (version !== VERSION) return null
  try {
    const clear = await crypto.subtle.decrypt(algorithm(bytes(iv), id), await keyOf(keySecret), bytes(cipher))
    return new TextDecoder().decode(clear)
  } catch {
    return null
  }
}

const algorithm = (iv: Uint8Array<ArrayBuffer>, id: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: text.encode(id),
})

async function keyOf(keySecret: string) {
  if (keySecret === '') throw new Error('KEY_SECRET is not set, so secrets cannot be encrypted')
  const raw = await crypto.subtle.importKey('raw', text.encode(keySecret), 'HKDF', false, ['deriveKey'])
  const salt = new Uint8Array(0)
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt, info: text.encode(PURPOSE) }
  return crypto.subtle.deriveKey(derivation, raw, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

const base64 = (from: Uint8Array) => btoa(String.fromCharCode(...from))
const bytes = (from: string) => Uint8Array.from(atob(from), (char) => char.charCodeAt(0))
