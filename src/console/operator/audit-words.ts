// The audit log in words. Invariant (test/console/audit-words.test.ts): every operation that is audited has words.

import { DISPLAY_LENGTH } from '../../accounts/format.ts'
import type { Responses } from '../responses.ts'
import { groupedText } from '../ui/format.ts'
import { labelOf } from '../ui/strings.ts'
import { auditActions, auditDone, auditFailed, auditNothing, auditUnknown } from './staff-strings.ts'

export type AuditLine = Responses['listAudit']['audit'][number]

/** The action, with the most important value that was sent. */
export function actionText({ action, sent }: Pick<AuditLine, 'action' | 'sent'>): string {
  const words = Object.hasOwn(auditActions, action) ? auditActions[action as keyof typeof auditActions] : undefined
  if (words === undefined) return action
  const [text, field] = words
  const value = field === undefined ? undefined : bodyOf(sent)[field]
  return typeof value === 'string' || typeof value === 'number' ? `${text}: ${shownValue(field, value)}` : text
}

const shownValue = (field: string | undefined, value: string | number) => {
  if (field === 'credits') return groupedText(String(value))
  return field === 'kind' || field === 'state' || field === 'role' ? labelOf(String(value)) : String(value)
}

/** The input as pairs of a name and a value; unchanged if it cannot be read. */
export function inputText({ sent }: Pick<AuditLine, 'sent'>): string {
  const pairs = Object.entries(bodyOf(sent))
  return pairs.length === 0 ? sent : pairs.map(([name, value]) => `${labelOf(name)}: ${valueText(value)}`).join(', ')
}

const valueText = (value: unknown) =>
  value === null ? auditNothing : typeof value === 'string' ? value : JSON.stringify(value)

/** Long input is truncated, so it may not be JSON. */
function bodyOf(sent: string): Readonly<Record<string, unknown>> {
  try {
    const { body } = JSON.parse(sent) as { readonly body?: unknown }
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export function outcomeText({ status }: Pick<AuditLine, 'status'>): string {
  if (status === null) return auditUnknown
  return status < 300 ? auditDone : auditFailed(status)
}

interface PageLink {
  readonly page: string
  readonly params: Readonly<Record<string, string>>
}

/** The object of the action, and the console page that shows it. Null: the gateway. */
export function targetOf({
  action,
  target,
}: Pick<AuditLine, 'action' | 'target'>): (PageLink & { text: string }) | null {
  if (target === '') return null
  if (/Key$/.test(action)) {
    const text = target.slice(0, DISPLAY_LENGTH)
    return { text, page: 'search', params: { q: /^[0-9a-f]{64}$/.test(target) ? target : text } }
  }
  if (/^(setPlan|applyPlan|removePlan)$/.test(action)) return { text: target, page: 'plans', params: {} }
  if (/Order$/.test(action)) return { text: target, page: 'orders', params: {} }
  if (/Staff$/.test(action)) return { text: target, page: 'staff', params: {} }
  if (/Incident$/.test(action)) return { text: `#${target}`, page: 'incidents', params: {} }
  return { text: target, page: 'account', params: { id: target } }
}
