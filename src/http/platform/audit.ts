// What the audit keeps of a request: pure. Laws: no secret and nothing unseen stands in it; everything is bounded, so that
// a row costs what a row costs, whatever was sent.

import { withoutKeys } from '../../accounts/format.ts'
import type { Operator } from '../../accounts/staff.ts'
import type { AccountId } from '../../core/ids.ts'
import { visible } from '../../core/visible.ts'

export interface AuditRow extends Operator {
  readonly action: string
  readonly target: string
  readonly account: AccountId | null
  readonly sent: string
  readonly requestId: string
}

const TARGET_MAX = 128
const SENT_MAX_LENGTH = 2_000
const SECRET_NAME = /secret|token|password|authorization/i
/** An address may have a secret in whatever comes after its host. */
const ADDRESS = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"@]*@)?([^\s/?#"]+)([/?#][^\s"]*)?/gi

/** Cut first: what is unseen grows when it is escaped. */
const bounded = (text: string, most: number) =>
  visible(text.length > most ? `${text.slice(0, most)}…` : text).slice(0, most * 2)

const redacted = (text: string) =>
  withoutKeys(text).replace(ADDRESS, (_, scheme, host, rest) => `${scheme}${host}${rest === undefined ? '' : '/…'}`)

function withoutSecrets(name: string, value: unknown): unknown {
  if (typeof value === 'boolean' || value === null) return value
  if (SECRET_NAME.test(name)) return '******'
  return typeof value === 'string' ? redacted(value) : value
}

function sentText(parts: { readonly query: unknown; readonly body: unknown }): string {
  const { query, body } = parts
  const isAsked = typeof query === 'object' && query !== null && Object.keys(query).length > 0
  const sent = { ...(isAsked ? { query } : {}), ...(body === undefined ? {} : { body }) }
  // Names of fields may be what should have been their values.
  return bounded(withoutKeys(JSON.stringify(sent, withoutSecrets)), SENT_MAX_LENGTH)
}

interface AuditedRequest {
  readonly operator: Operator
  readonly action: string
  readonly path: string
  /** Of the path, as received. */
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  /** Left out where it is no JSON, or was not read. */
  readonly body?: unknown
  readonly requestId: string
}

/** The row that says who asks for what. */
export function auditRow({ operator, action, path, params, query, body, requestId }: AuditedRequest): AuditRow {
  const target = bounded(redacted(Object.values(params).join(' ')), TARGET_MAX)
  return {
    name: operator.name,
    role: operator.role,
    action,
    target,
    account: path.startsWith('/admin/accounts/{id}') ? target : accountIn(body),
    sent: sentText({ query, body }),
    requestId,
  }
}

/** The account that a body names. */
export function accountIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('account' in body)) return null
  return typeof body.account === 'string' ? bounded(redacted(body.account), TARGET_MAX) : null
}
