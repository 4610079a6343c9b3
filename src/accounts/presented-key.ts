// Finds the key in a request, and explains what is wrong if there is none. Each surface chooses the accepted locations.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { bearerToken } from '../core/secret.ts'

/** Locations in order of preference. */
export type KeyLocation = 'bearer' | 'query' | 'path' | 'basic'

export interface KeyCarriers {
  readonly authorization: string | null
  /** All decoded values of `?key=` and `?token=`. */
  readonly query: readonly string[]
  /** Decoded segment after `/k/`; null if the URL has a different form. */
  readonly path: string | null
}

/** The unverified key. It comes from the first location that is not empty. */
export function presentedKey(carriers: KeyCarriers, locations: readonly KeyLocation[]): Result<string, Failure> {
  for (const location of locations) {
    const found = READERS[location](carriers, locations)
    if (found !== null) return found
  }
  return err({ kind: 'key_missing' })
}

const READERS: Record<
  KeyLocation,
  (carriers: KeyCarriers, locations: readonly KeyLocation[]) => Result<string, Failure> | null
> = {
  bearer: ({ authorization }, locations) => {
    if (authorization === null || authorization === '') return null
    const token = bearerToken(authorization)
    return token === null
      ? malformed(`${wrongScheme(authorization)}. Send ${describeLocations(locations).join(', or ')}.`)
      : ok(token)
  },
  query: ({ query }) => {
    const [key, second] = query
    if (key === undefined || key === '') return null
    return second === undefined ? ok(key) : malformed('The URL has more than one "key" parameter. Send one.')
  },
  path: ({ path }) => (path === null || path === '' ? null : ok(path)),
  basic: ({ authorization }) => {
    const encoded = /^basic +(.*)$/i.exec(authorization ?? '')?.[1]
    if (encoded === undefined) return null
    const [user, password] = decodeBase64(encoded)?.split(':', 2) ?? []
    if (user && password !== undefined) return ok(user)
    return malformed('The basic credentials are malformed. Send the API key as the user name, followed by a colon.')
  },
}

const DESCRIPTIONS: Partial<Record<KeyLocation, string>> = {
  query: '?key=<key> in the URL',
  basic: 'basic credentials with the key as user name and an empty password',
  bearer: '"Authorization: Bearer <key>"',
}
const describeLocations = (locations: readonly KeyLocation[]) =>
  locations.flatMap((location) => DESCRIPTIONS[location] ?? [])
const OTHER_HEADERS = ['x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token']
const OTHER_PARAMETERS = ['key', 'api_key', 'apikey', 'api-key', 'token', 'access_token']

/** Failure for a missing key, with a hint if a key was sent in a different place. Reads names only, no values. */
export function missingKey(
  { headers, parameters }: { readonly headers: { has(name: string): boolean }; readonly parameters: readonly string[] },
  locations: readonly KeyLocation[],
): Failure {
  const instruction = `Send it as ${describeLocations(locations).join(', or as ')}`
  const header = OTHER_HEADERS.find((name) => headers.has(name))
  if (header !== undefined)
    return {
      kind: 'key_missing',
      isMisplaced: true,
      hint: `An API key in the header ${header} is not accepted. ${instruction}.`,
    }
  const parameter = OTHER_PARAMETERS.find((name) => parameters.some((each) => each.toLowerCase() === name))
  const isPlace = (parameter === 'key' || parameter === 'token') && locations.includes('query')
  if (parameter === undefined || isPlace)
    return { kind: 'key_missing', ...(locations.includes('basic') ? { hint: `No API key. ${instruction}.` } : {}) }
  return {
    kind: 'key_missing',
    isMisplaced: true,
    hint: `An API key in ?${parameter}= of this URL is not accepted. ${instruction}.`,
  }
}

/**
 * Describes an Authorization header without a bearer token. The header may contain a key, so no part of it is echoed.
 */
function wrongScheme(authorization: string): string {
  if (/^bearer *$/i.test(authorization)) return 'The Authorization header has no key after "Bearer"'
  if (/^basic /i.test(authorization)) return 'The Authorization header uses the scheme "Basic"'
  return authorization.includes(' ')
    ? 'The Authorization header does not use the scheme "Bearer"'
    : 'The Authorization header is missing the word "Bearer"'
}

function malformed(hint: string): Result<string, Failure> {
  return err({ kind: 'key_malformed', hint })
}

/** Null for invalid base64. Accepts both alphabets, with or without padding. */
function decodeBase64(text: string): string | null {
  const digits = text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1) return null
  return new TextDecoder().decode(Uint8Array.from(atob(digits), (char) => char.charCodeAt(0)))
}
