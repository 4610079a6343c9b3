// Reads and compares operator secrets (ADMIN_TOKEN, FEED_TOKEN), and redacts secrets in external strings. Invariants:
// response times reveal nothing about a secret; a surface whose secret is unset or short is disabled.

/** Minimum length of an operator token. A shorter token counts as unset. */
export const SECRET_MIN_LENGTH = 32

/** Characters that are allowed in a header and visible in a terminal. */
export const TOKEN = /^[\x21-\x7e]+$/
/** The message for an invalid token, to follow the token's name. */
export const INVALID_TOKEN_MESSAGE = 'contains a space, a line break or a non-ASCII character. Copy it again'

/** Why nobody could use this secret; null if somebody can. */
export function secretFault(value: string, least = SECRET_MIN_LENGTH): string | null {
  if (value.length < least) return `has fewer than ${least} characters`
  return TOKEN.test(value) ? null : INVALID_TOKEN_MESSAGE
}

/** Keys, staff tokens and stream tokens with their displayable prefix, webhook secrets, and bearer tokens. */
const SECRETS = /(cq[tsoe]_[\w-]{8})[\w.-]+|(whsec_)[\w+/=-]+|(\bbearer\s+)(?!cq[tsoe]_)[^\s"',<]{16,}/gi

/** Shortens each secret in an external string to its displayable prefix. */
export const withoutSecrets = (text: string): string =>
  text.replace(SECRETS, (_, key = '', webhook = '', bearer = '') => `${key}${webhook}${bearer}…`)

/** Compares two strings. The time depends only on the length of `presented`. */
export function constantTimeEqual(presented: string, secret: string): boolean {
  const a = new TextEncoder().encode(presented)
  const b = new TextEncoder().encode(secret)
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i % (b.length || 1)] ?? 0)
  return difference === 0
}

/**
 * The token of `Authorization: Bearer <token>`. The case of the scheme does not matter. Null if the header is missing
 * or has another scheme.
 */
export function bearerToken(authorization: string | null | undefined): string | null {
  const match = /^bearer +(.+)$/i.exec(authorization ?? '')
  return match?.[1] ?? null
}

/** `closed`: the secret is unset or short. `refused`: the token is wrong or missing. `granted`: the token matches. */
export function checkBearerSecret(
  authorization: string | null | undefined,
  secret: string | undefined,
): 'closed' | 'refused' | 'granted' {
  if (secret === undefined || secret.length < SECRET_MIN_LENGTH) return 'closed'
  const token = bearerToken(authorization)
  return token !== null && constantTimeEqual(token, secret) ? 'granted' : 'refused'
}
