// The secret field of each destination type. Invariants: responses never contain the secret; a stored secret is never
// sent to a different recipient.

import type { DestinationConfig } from './pipeline.ts'

/** Shown instead of a secret. Sending it back keeps the stored secret. */
export const MASK = '******'

const FIELD = {
  webhook: 'secret',
  r2: null,
  s3: 'secret_access_key',
  clickhouse: 'password',
  postgres: 'password',
  kafka: 'password',
} as const satisfies Readonly<Record<DestinationConfig['type'], string | null>>

/** Name of the secret field; null if the type has none. */
export function secretField(config: DestinationConfig): (typeof FIELD)[DestinationConfig['type']] {
  return FIELD[config.type]
}

/** Empty if there is no secret. */
export function secretOf(config: DestinationConfig): string {
  const field = secretField(config)
  return field === null ? '' : (((config as Readonly<Record<string, unknown>>)[field] as string | undefined) ?? '')
}

/** Returns the destination with this secret. An empty secret changes nothing. */
export function withSecret(config: DestinationConfig, secret: string): DestinationConfig {
  const field = secretField(config)
  return field === null || secret === '' ? config : { ...config, [field]: secret }
}

export function masked(config: DestinationConfig): DestinationConfig {
  return withSecret(config, secretOf(config) === '' ? '' : MASK)
}

/**
 * Recipient of the secret: type, scheme, host and port as written. Different spellings of a host count as different
 * recipients. Different hosts never count as one, because URLs contain no user name, whitespace or backslash.
 */
export function recipientOf(config: DestinationConfig): string {
  const authority = 'url' in config ? (/^[a-z]+:\/\/[^/?#]+/i.exec(config.url)?.[0] ?? config.url) : ''
  return `${config.type} ${authority.toLowerCase()}`
}
