// Who did what, and what came of it.

import type { Answers } from '../answers.ts'
import type { Column } from '../ui/table.tsx'
import { accountColumn, timeColumn } from './cells.tsx'
import { ListPage, useList } from './list-page.tsx'

export type AuditLine = Answers['listAudit']['audit'][number]

const outcome = ({ status }: AuditLine) => (status === null ? 'not known' : String(status))

export const AUDIT_COLUMNS: readonly Column<AuditLine>[] = [
  timeColumn('At', 'at'),
  { name: 'Who', text: ({ actor }) => actor },
  { name: 'Role', text: ({ role }) => role },
  { name: 'Did', text: ({ action }) => action },
  { name: 'To', text: ({ target }) => target },
  accountColumn(),
  {
    name: 'Came of it',
    isNumber: true,
    text: outcome,
    draw: (line) => <span class={line.status !== null && line.status < 300 ? 'good' : 'bad'}>{outcome(line)}</span>,
  },
  { name: 'Sent', text: ({ sent }) => sent, draw: ({ sent }) => <span title={sent}>{sent}</span> },
  { name: 'Request', text: ({ request_id: id }) => id },
]

const FIELDS = [
  { name: 'actor', label: 'Who' },
  { name: 'action', label: 'Did, such as revokeKey' },
  { name: 'account', label: 'Account' },
  { name: 'from', label: 'First day (UTC)', type: 'date' },
  { name: 'to', label: 'Last day (UTC)', type: 'date' },
] as const

export function AuditPage() {
  return (
    <ListPage
      caption="Audit"
      fields={FIELDS}
      paged={useList<AuditLine>('audit', 'before', 'audit', FIELDS)}
      columns={AUDIT_COLUMNS}
      rowKey={({ number }) => String(number)}
      empty="Nothing like this was done."
      csv="audit"
    >
      <p>Everything but reading that staff did, or tried: written down before it is done, and never changed.</p>
    </ListPage>
  )
}
