// Request headers that authenticate the gateway to a source or a node. A setting contains the name of the secret that
// holds a header's value, because settings are readable in the dashboard. Invariant: only secrets whose names start with
// SOURCE_ are sent, so no setting can send the gateway's own secrets.

import * as z from 'zod'

const HEADERS_MAX = 8
const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/
const OWN_HEADER =
  /^(?:accept-encoding|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i
/** SOURCE_BUDGET is the binding of a Durable Object. */
const SECRET = /^SOURCE_(?!BUDGET$)[A-Z0-9_]{1,56}$/
/** Characters that every runtime sends in a header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

const INVALID_NAME = 'header names must consist of letters, digits and "-"'

/** A record drops this key without an error, so it is rejected first. */
const hasProto = (headers: unknown) =>
  typeof headers === 'object' && headers !== null && Object.hasOwn(headers, '__proto__')

const NamesByHeader = z
  .record(z.string(), z.string().regex(SECRET, 'must be the name of a secret that starts with SOURCE_'))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    // A name is not repeated in the message, because a token may have been written in its place.
    const problem = !names.every((name) => HEADER.test(name))
      ? INVALID_NAME
      : names.some((name) => OWN_HEADER.test(name))
        ? 'must not contain a header that the gateway sets itself'
        : new Set(names.map((name) => name.toLowerCase())).size < names.length
          ? 'must not contain a header twice'
          : names.length > HEADERS_MAX
            ? `must have at most ${HEADERS_MAX} headers`
            : null
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  })

/** Names of secrets by header, such as `{"CF-Access-Client-Id":"SOURCE_ACCESS_ID"}`. */
export const SecretHeaders = z
  .unknown()
  .refine((headers) => !hasProto(headers), INVALID_NAME)
  .pipe(NamesByHeader)
export type SecretHeaders = z.infer<typeof SecretHeaders>

interface WithHeaders {
  readonly headers?: SecretHeaders | undefined
}

/** Names of the secrets that these sources need, each once. */
export function secretNames(sources: readonly WithHeaders[]): string[] {
  return [...new Set(sources.flatMap(({ headers = {} }) => Object.values(headers)))]
}

/** Headers with their values. `unusable`: secrets that are not set, or that a header cannot contain. */
export function headerValues(source: WithHeaders, secrets: object) {
  const unusable = secretNames([source]).filter((name) => secretOf(secrets, name) === null)
  const values = Object.entries(source.headers ?? {}).map(([header, name]) => [header, secretOf(secrets, name) ?? ''])
  return { values: Object.fromEntries(values) as Readonly<Record<string, string>>, unusable }
}

function secretOf(secrets: object, name: string): string | null {
  const value: unknown = Object.hasOwn(secrets, name) ? secrets[name as keyof typeof secrets] : undefined
  const text = typeof value === 'string' ? value.trim() : ''
  return VALUE.test(text) ? text : null
}
