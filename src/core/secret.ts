// Reads and compares operator secrets (ADMIN_TOKEN, FEED_TOKEN). Invariants: timing reveals nothing about a secret; a
// surface with an unset or short secret is disabled.

/** Shorter operator tokens count as unset. */
export const SECRET_MIN_LENGTH = 32

/** Characters that fit a header and are visible in a terminal. */
export const TOKEN = /^[\x21-\x7e]+$/
/** Message after the name of an invalid token. */
export const INVALID_TOKEN_MESSAGE = 'contains a space, a line break or a non-ASCII character: copy it again'

/** Compares in time that depends only on the length of `presented`. */
export function constantTimeEqual(presented: string, secret: string): boolean {
  const a = new TextEncoder().encode(presented)
  const b = new TextEncoder().encode(secret)
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i % (b.length || 1)] ?? 0)
  return difference === 0
}

/** Token of `Authorization: Bearer <token>`, scheme in any case. Null for a missing header or another scheme. */
export function bearerToken(authorization: string | null | undefined): string | null {
  const match = /^bearer +(.+)$/i.exec(authorization ?? '')
  return match?.[1] ?? null
}

/** `closed`: the secret is unset or short. `refused`: wrong or missing token. `granted`: the token matches. */
export function checkBearerSecret(
  authorization: string | null | undefined,
  secret: string | undefined,
): 'closed' | 'refused' | 'granted' {
  if (secret === undefined || secret.length < SECRET_MIN_LENGTH) return 'closed'
  const token = bearerToken(authorization)
  return token !== null && constantTimeEqual(token, secret) ? 'granted' : 'refused'
}
