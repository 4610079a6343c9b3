// WebCrypto for stream tokens: `cqe_`, the payload as base64url JSON, a dot, and an HMAC-SHA256 of everything before
// it. The HMAC key is derived by HKDF from KEY_SECRET for this purpose only. Tokens are not stored.

import * as z from 'zod'
import { BoundedMap } from '../core/bounded-map.ts'
import type { Failure } from '../core/failure.ts'
import { KeyHash } from '../core/ids.ts'
import { err, ok, type Result } from '../core/result.ts'
import { StreamToken } from './identity.ts'
import { type SignedStreamToken, STREAM_TOKEN_EXPIRED, TOKEN_PREFIX } from './stream-token.ts'

const PURPOSE = 'weir/stream-tokens/1'
const FORM = /^(cqe_[A-Za-z0-9_-]{1,6000})\.([A-Za-z0-9_-]{43})$/
const text = new TextEncoder()

const TokenPayload = StreamToken.extend({ v: z.literal(1), keyHash: KeyHash })
const MALFORMED: Failure = {
  kind: 'key_malformed',
  hint: 'This stream token is malformed, truncated or from another gateway. Request a new one.',
}

type MacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
/** Has one entry in practice. It is bounded for tests that use many secrets. */
const macKeys = new BoundedMap<string, Promise<MacKey>>(8)

export async function sealStreamToken(token: SignedStreamToken, secret: string): Promise<string> {
  const head = TOKEN_PREFIX + base64url(text.encode(JSON.stringify({ v: 1, ...token })))
  return `${head}.${base64url(await macOf(head, secret))}`
}

/** Payload of a token that this gateway issued and that has not expired. */
export async function openStreamToken(
  sent: string,
  secret: string,
  nowMs: number,
): Promise<Result<SignedStreamToken, Failure>> {
  const [, head, mac] = FORM.exec(sent) ?? []
  if (head === undefined || mac === undefined) return err(MALFORMED)
  if (!(await crypto.subtle.verify('HMAC', await macKeyOf(secret), bytes(mac), text.encode(head))))
    return err(MALFORMED)
  const parsed = TokenPayload.safeParse(JSON.parse(new TextDecoder().decode(bytes(head.slice(TOKEN_PREFIX.length)))))
  if (!parsed.success) return err(MALFORMED)
  const { v: _, ...token } = parsed.data
  return token.expires > nowMs ? ok(token) : err(STREAM_TOKEN_EXPIRED)
}

/** Pseudonym of an address in tokens: stable, but meaningless to others. */
export async function holderOf(network: string, secret: string): Promise<string> {
  return base64url((await macOf(`holder ${network}`, secret)).subarray(0, 12))
}

async function macOf(of: string, secret: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await macKeyOf(secret), text.encode(of)))
}

function macKeyOf(secret: string): Promise<MacKey> {
  let key = macKeys.get(secret)
  if (key === undefined) {
    key = derivedKey(secret)
    macKeys.set(secret, key)
  }
  return key
}

async function derivedKey(secret: string): Promise<MacKey> {
  const raw = await crypto.subtle.importKey('raw', text.encode(secret), 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: text.encode(PURPOSE) }
  const algorithm = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(derivation, raw, algorithm, false, ['sign', 'verify'])
}

const base64url = (from: Uint8Array) =>
  btoa(String.fromCharCode(...from))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const bytes = (from: string) =>
  Uint8Array.from(atob(from.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
