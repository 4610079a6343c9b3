// Where a request carries its key, and what is wrong where it does not. Which places count is the surface's choice.

import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { bearerToken } from '../core/secret.ts'

/** Places to look, in the order of preference. */
export type KeyLocation = 'bearer' | 'query' | 'path' | 'basic'

export interface KeyCarriers {
  readonly authorization: string | null
  /** Every value of `?key=` and `?token=`, decoded. */
  readonly query: readonly string[]
  /** The segment after `/k/`, decoded; null where the URL has another form. */
  readonly path: string | null
}

/** The text presented as a key, not yet checked. The first place that carries anything decides. */
export function presentedKey(carriers: KeyCarriers, locations: readonly KeyLocation[]): Result<string, Failure> {
  for (const place of locations) {
    const found = READERS[place](carriers, locations)
    if (found !== null) return found
  }
  return err({ kind: 'key_missing' })
}

const READERS: Record<
  KeyLocation,
  (carriers: KeyCarriers, places: readonly KeyLocation[]) => Result<string, Failure> | null
> = {
  bearer: ({ authorization }, places) => {
    if (authorization === null || authorization === '') return null
    const token = bearerToken(authorization)
    return token === null
      ? malformed(`${wrongScheme(authorization)}: send ${describeLocations(places).join(', or ')}.`)
      : ok(token)
  },
  query: ({ query }) => {
    const [key, second] = query
    if (key === undefined || key === '') return null
    return second === undefined ? ok(key) : malformed('The URL has more than one "key" parameter: send one.')
  },
  path: ({ path }) => (path === null || path === '' ? null : ok(path)),
  basic: ({ authorization }) => {
    const encoded = /^basic +(.*)$/i.exec(authorization ?? '')?.[1]
    if (encoded === undefined) return null
    const [user, password] = decodeBase64(encoded)?.split(':', 2) ?? []
    if (user && password !== undefined) return ok(user)
    return malformed('The basic credentials are malformed: the API key is the user name, before a colon.')
  },
}

const DESCRIPTIONS: Partial<Record<KeyLocation, string>> = {
  query: '?key=<key> in the URL',
  basic: 'basic credentials, the key as user name with an empty password',
  bearer: '"Authorization: Bearer <key>"',
}
const describeLocations = (places: readonly KeyLocation[]) => places.flatMap((place) => DESCRIPTIONS[place] ?? [])
const OTHER_HEADERS = ['x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token']
const OTHER_PARAMETERS = ['key', 'api_key', 'apikey', 'api-key', 'token', 'access_token']

/** The refusal where no place had a key, which says so where one was put elsewhere. Names alone are read, no values. */
export function missingKey(
  { headers, parameters }: { readonly headers: { has(name: string): boolean }; readonly parameters: readonly string[] },
  locations: readonly KeyLocation[],
): Failure {
  const asked = `send it as ${describeLocations(locations).join(', or as ')}`
  const header = OTHER_HEADERS.find((name) => headers.has(name))
  if (header !== undefined)
    return { kind: 'key_missing', hint: `No API key is read from the header ${header}: ${asked}.` }
  const parameter = OTHER_PARAMETERS.find((name) => parameters.some((each) => each.toLowerCase() === name))
  const isPlace = (parameter === 'key' || parameter === 'token') && locations.includes('query')
  if (parameter === undefined || isPlace)
    return { kind: 'key_missing', ...(locations.includes('basic') ? { hint: `No API key: ${asked}.` } : {}) }
  return { kind: 'key_missing', hint: `No API key is read from ?${parameter}= of this URL: ${asked}.` }
}

/** What is wrong with a header that has no bearer token; it may be a key, so nothing of it is said back. */
function wrongScheme(authorization: string): string {
  if (/^bearer *$/i.test(authorization)) return 'The Authorization header has no key behind "Bearer"'
  if (/^basic /i.test(authorization)) return 'The Authorization header has the scheme "Basic"'
  return authorization.includes(' ')
    ? 'The Authorization header has another scheme than "Bearer"'
    : 'The Authorization header lacks the word "Bearer"'
}

function malformed(hint: string): Result<string, Failure> {
  return err({ kind: 'key_malformed', hint })
}

/** Null where it is no base64, in either alphabet and with or without padding. */
function decodeBase64(text: string): string | null {
  const digits = text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1) return null
  return new TextDecoder().decode(Uint8Array.from(atob(digits), (char) => char.charCodeAt(0)))
}
