// Builds the audit row of a request. Invariants: it contains no secret and no invisible characters; its size is
// bounded, whatever was sent.

import type { Operator } from '../../accounts/staff.ts'
import type { AccountId } from '../../core/ids.ts'
import { withoutSecrets } from '../../core/secret.ts'
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
/** Everything after the host of a URL may contain a secret. */
const ADDRESS = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"@]*@)?([^\s/?#"]+)([/?#][^\s"]*)?/gi

/** Truncates before escaping, because escapes make invisible characters longer. */
const bounded = (text: string, max: number) =>
  visible(text.length > max ? `${text.slice(0, max)}…` : text).slice(0, max * 2)

const redacted = (text: string) =>
  withoutSecrets(text).replace(ADDRESS, (_, scheme, host, rest) => `${scheme}${host}${rest === undefined ? '' : '/…'}`)

function redactedValue(name: string, value: unknown): unknown {
  if (typeof value === 'boolean' || value === null) return value
  if (SECRET_NAME.test(name)) return '******'
  return typeof value === 'string' ? redacted(value) : value
}

function sentText(parts: { readonly query: unknown; readonly body: unknown }): string {
  const { query, body } = parts
  const hasQuery = typeof query === 'object' && query !== null && Object.keys(query).length > 0
  const sent = { ...(hasQuery ? { query } : {}), ...(body === undefined ? {} : { body }) }
  // A caller may have put a key into a field name.
  return bounded(withoutSecrets(JSON.stringify(sent, redactedValue)), SENT_MAX_LENGTH)
}

interface AuditedRequest {
  readonly operator: Operator
  readonly action: string
  readonly path: string
  /** Path parameters as received. */
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  /** Absent if the body is not JSON or was not read. */
  readonly body?: unknown
  readonly requestId: string
}

/** Audit row of a request. */
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

/** Account named in a body. */
export function accountIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('account' in body)) return null
  return typeof body.account === 'string' ? bounded(redacted(body.account), TARGET_MAX) : null
}
