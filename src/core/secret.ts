// Comparing and reading operator secrets (ADMIN_TOKEN, FEED_TOKEN). Law: the time taken tells nothing about the
// secret, and a surface behind a secret that is unset or short does not exist.

/** A shorter operator token is treated as unset. */
export const SECRET_MIN_LENGTH = 32

/** What a header carries, and a terminal shows whole. */
export const TOKEN = /^[\x21-\x7e]+$/
/** Follows the name of one that is none. */
export const INVALID_TOKEN_MESSAGE = 'holds a space, a line break or a character that is not ASCII: copy it again'

/** Equality in time that depends on the length of `presented` alone, not on where the texts differ. */
export function constantTimeEqual(presented: string, secret: string): boolean {
  const a = new TextEncoder().encode(presented)
  const b = new TextEncoder().encode(secret)
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i % (b.length || 1)] ?? 0)
  return difference === 0
}

/** The token of `Authorization: Bearer <token>` (scheme in any case), null where the header is missing or another scheme. */
export function bearerToken(authorization: string | null | undefined): string | null {
  const match = /^bearer +(.+)$/i.exec(authorization ?? '')
  return match?.[1] ?? null
}

/** `closed`: the surface does not exist (secret unset or short); `refused`: wrong or missing token; `granted`. */
export function checkBearerSecret(
  authorization: string | null | undefined,
  secret: string | undefined,
): 'closed' | 'refused' | 'granted' {
  if (secret === undefined || secret.length < SECRET_MIN_LENGTH) return 'closed'
  const token = bearerToken(authorization)
  return token !== null && constantTimeEqual(token, secret) ? 'granted' : 'refused'
}
