// Hyperdrive destinations: databases that the operator has bound to the Worker. Invariant: an account writes to a
// Hyperdrive only if the operator lists the account for it.

import * as z from 'zod'
import type { Issue } from '../core/failure.ts'
import { parseJson } from '../core/json.ts'
import { parseWith } from '../core/validation-errors.ts'
import type { DestinationConfig } from './pipeline.ts'

type PostgresConfig = Extract<DestinationConfig, { type: 'postgres' }>

const NAME = /^[A-Z][A-Z0-9_]{0,62}$/
/** Accounts that may write, by binding name. */
const Accounts = z.record(z.string().regex(NAME, 'must be a binding name such as FILLS_DB'), z.array(z.string()))

/** Binding name of `hyperdrive://NAME`; null if the URL names a server. */
export function hyperdriveOf(url: string): string | null {
  return /^hyperdrive:\/\/(.*)$/i.exec(url)?.[1] ?? null
}

/** Checks that servers have credentials and that Hyperdrives have none. */
export function postgresIssues(config: PostgresConfig): Issue[] {
  const name = hyperdriveOf(config.url)
  const issue = (field: string, message: string) => ({ path: `destination_config.${field}`, message })
  const fields = (['user', 'password', 'database'] as const).filter(
    (field) => (config[field] === undefined) === (name === null),
  )
  if (name === null) return fields.map((field) => issue(field, 'is required'))
  const isNamed = NAME.test(name)
    ? []
    : [issue('url', 'must be hyperdrive:// followed by a binding name such as FILLS_DB')]
  return [...isNamed, ...fields.map((field) => issue(field, 'must be omitted: the Hyperdrive binding provides it'))]
}

const NOT_JSON = 'is not valid JSON. Expected account lists by binding name, such as {"FILLS_DB":["acme"]}'

/** The PIPELINE_HYPERDRIVE variable. */
export const HyperdriveVariable = z.string().transform((text, context) => {
  const value = parseJson(text)
  const accounts = parseWith(Accounts, value)
  if (accounts.ok) return accounts.value
  const [{ path, message }] = accounts.error
  context.addIssue(value === undefined ? NOT_JSON : `${path || 'value'}: ${message}`)
  return z.NEVER
})
