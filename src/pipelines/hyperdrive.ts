// Hyperdrives as destinations: databases that the operator has bound to the Worker. Law: nobody writes into one whose account
// the operator has not listed for it.

import * as z from 'zod'
import type { Issue } from '../core/failure.ts'
import { parseJson } from '../core/json.ts'
import { parseWith } from '../core/validation-errors.ts'
import type { DestinationConfig } from './pipeline.ts'

type PostgresConfig = Extract<DestinationConfig, { type: 'postgres' }>

const NAME = /^[A-Z][A-Z0-9_]{0,62}$/
/** By the name of a binding the accounts whose pipelines may write through it. */
const Accounts = z.record(
  z.string().regex(NAME, 'must be the name of a binding, such as FILLS_DB'),
  z.array(z.string()),
)

/** Of `hyperdrive://NAME`; null: it is a server's address. */
export function hyperdriveOf(url: string): string | null {
  return /^hyperdrive:\/\/(.*)$/i.exec(url)?.[1] ?? null
}

/** What of a record belongs to servers of one's own, and what to a Hyperdrive. */
export function postgresIssues(config: PostgresConfig): Issue[] {
  const name = hyperdriveOf(config.url)
  const issue = (field: string, message: string) => ({ path: `destination_config.${field}`, message })
  const fields = (['user', 'password', 'database'] as const).filter(
    (field) => (config[field] === undefined) === (name === null),
  )
  if (name === null) return fields.map((field) => issue(field, 'is required'))
  const isNamed = NAME.test(name)
    ? []
    : [issue('url', 'must be hyperdrive:// and the name of a binding, such as FILLS_DB')]
  return [...isNamed, ...fields.map((field) => issue(field, 'must be left out: the Hyperdrive has its own'))]
}

const NOT_JSON = 'is not JSON: expected accounts by the name of a binding, such as {"FILLS_DB":["acme"]}'

/** The PIPELINE_HYPERDRIVE variable; an error is one sentence for the operator. */
export const HyperdriveVariable = z.string().transform((text, context) => {
  const value = parseJson(text)
  const accounts = parseWith(Accounts, value)
  if (accounts.ok) return accounts.value
  const [{ path, message }] = accounts.error
  context.addIssue(value === undefined ? NOT_JSON : `${path || 'value'}: ${message}`)
  return z.NEVER
})
