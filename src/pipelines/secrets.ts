// The one secret that a destination has, by its kind. Laws: what is shown never holds it; what is kept is sent to nobody
// for whom it was not meant.

import type { DestinationConfig } from './pipeline.ts'

/** Shown in place of a secret; sent back, it keeps the one that there is. */
export const MASK = '******'

const FIELD = {
  webhook: 'secret',
  r2: null,
  s3: 'secret_access_key',
  clickhouse: 'password',
  postgres: 'password',
  kafka: 'password',
} as const satisfies Readonly<Record<DestinationConfig['type'], string | null>>

/** Name of the field with the secret; null where the kind has none. */
export function secretField(config: DestinationConfig): (typeof FIELD)[DestinationConfig['type']] {
  return FIELD[config.type]
}

/** Empty where there is none. */
export function secretOf(config: DestinationConfig): string {
  const field = secretField(config)
  return field === null ? '' : (((config as Readonly<Record<string, unknown>>)[field] as string | undefined) ?? '')
}

/** The same destination with this secret; an empty one leaves it as it is. */
export function withSecret(config: DestinationConfig, secret: string): DestinationConfig {
  const field = secretField(config)
  return field === null || secret === '' ? config : { ...config, [field]: secret }
}

export function masked(config: DestinationConfig): DestinationConfig {
  return withSecret(config, secretOf(config) === '' ? '' : MASK)
}

/**
 * Who gets the secret, or what it signs: kind, scheme, host and port, as they are written. Two texts for one host count as
 * two, never the other way round: addresses hold no user name, no white space and no backslash.
 */
export function recipientOf(config: DestinationConfig): string {
  const authority = 'url' in config ? (/^[a-z]+:\/\/[^/?#]+/i.exec(config.url)?.[0] ?? config.url) : ''
  return `${config.type} ${authority.toLowerCase()}`
}
