// Request headers that authenticate the gateway to a source or a node. A setting contains the name of the secret that
// holds a header's value, because settings are readable in the dashboard. Invariant: only secrets whose names start with
// SOURCE_ are sent, so no setting can send the gateway's own secrets.

import * as z from 'zod'

const HeaderName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be a header name of letters, digits and "-"')
  .refine(
    (name) => !/^(?:connection|content-.*|expect|host|te|trailer|transfer-encoding|upgrade)$/i.test(name),
    'must not be a header that the gateway sets itself',
  )
const SecretName = z.string().regex(/^SOURCE_[A-Z0-9_]{1,56}$/, 'must be the name of a secret that starts with SOURCE_')

/** Names of secrets by header, such as `{"CF-Access-Client-Id":"SOURCE_ACCESS_ID"}`. */
export const SecretHeaders = z
  .record(HeaderName, SecretName)
  .refine((headers) => Object.keys(headers).length <= 8, 'must have at most 8 headers')
export type SecretHeaders = z.infer<typeof SecretHeaders>

interface WithHeaders {
  readonly headers?: SecretHeaders | undefined
}

/** Headers with their values. A header whose secret is not set is left out, see `missingSecrets`. */
export function headerValues({ headers = {} }: WithHeaders, secrets: object): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([header, name]) => {
      const value = secretOf(secrets, name)
      return value === null ? [] : [[header, value]]
    }),
  )
}

/** Names of the secrets that these sources need, each once. */
export function secretNames(sources: readonly WithHeaders[]): string[] {
  return [...new Set(sources.flatMap(({ headers = {} }) => Object.values(headers)))]
}

export function missingSecrets(sources: readonly WithHeaders[], secrets: object): string[] {
  return secretNames(sources).filter((name) => secretOf(secrets, name) === null)
}

function secretOf(secrets: object, name: string): string | null {
  const value: unknown = Object.hasOwn(secrets, name) ? secrets[name as keyof typeof secrets] : undefined
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
