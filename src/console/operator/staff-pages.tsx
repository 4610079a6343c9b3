// The staff page, the audit log and the search. Invariants: a new token is shown once and never stored; only the prefix
// of a searched key appears in the URL.

import { navigate, params } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm, type FormField } from '../ui/form.tsx'
import { timeText } from '../ui/format.ts'
import { ErrorNote, QueryView, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
import { accountColumn, ListPage, pageUrl, timeColumn, useAdminList } from './parts.tsx'
import * as strings from './strings.ts'

export type AuditLine = Responses['listAudit']['audit'][number]

const outcome = ({ status }: AuditLine) => (status === null ? strings.auditUnknown : String(status))

const AUDIT_COLUMNS: readonly Column<AuditLine>[] = [
  timeColumn(strings.commonTime, 'at'),
  { name: strings.auditActor, text: ({ actor }) => actor },
  { name: strings.auditRole, text: ({ role }) => labelOf(role) },
  { name: strings.auditAction, text: ({ action }) => action },
  { name: strings.auditTarget, text: ({ target }) => target },
  accountColumn(),
  {
    name: strings.auditResult,
    isNumber: true,
    text: outcome,
    render: (line) => <span class={line.status !== null && line.status < 300 ? 'good' : 'bad'}>{outcome(line)}</span>,
  },
  { name: strings.auditInput, text: ({ sent }) => sent, render: ({ sent }) => <span title={sent}>{sent}</span> },
  { name: strings.commonRequest, text: ({ request_id: id }) => id },
]

const AUDIT_FIELDS = [
  { name: 'actor', label: strings.auditActor },
  { name: 'action', label: strings.auditActionFilter },
  { name: 'account', label: strings.commonAccount },
  { name: 'from', label: strings.auditFrom, type: 'date' },
  { name: 'to', label: strings.auditTo, type: 'date' },
] as const

export function AuditPage() {
  return (
    <ListPage
      caption={strings.auditTitle}
      fields={AUDIT_FIELDS}
      paged={useAdminList<AuditLine>('audit', 'before', 'audit', AUDIT_FIELDS)}
      columns={AUDIT_COLUMNS}
      empty={strings.auditEmpty}
      csv="audit"
    >
      <p>{strings.auditText}</p>
    </ListPage>
  )
}

type Member = Responses['listStaff']['staff'][number]

const STAFF_FIELDS: readonly FormField[] = [
  { name: 'name', label: strings.staffName },
  {
    name: 'role',
    label: strings.staffRole,
    options: strings.staffRoles,
  },
]

export function StaffPage() {
  const staff = useQuery<Responses['listStaff']>(() => '/admin/staff')
  const revoke = (name: string) =>
    requestChange('DELETE', `/admin/staff/${encodeURIComponent(name)}`, undefined, staff.reload)
  const columns: readonly Column<Member>[] = [
    { name: strings.staffName, text: ({ name }) => name },
    { name: strings.staffRole, text: ({ role }) => labelOf(role) },
    timeColumn(strings.staffCreated, 'created'),
    {
      name: strings.commonState,
      text: ({ revoked }) => (revoked === null ? strings.staffActive : strings.staffRevoked(timeText(revoked))),
    },
    {
      name: strings.commonActions,
      render: ({ name, revoked }) =>
        revoked === null && (
          <ConfirmButton
            buttonLabel={strings.staffRevoke}
            label={strings.staffRevokeLabel(name)}
            action={strings.staffRevokeSubmit}
            name={name}
            onConfirm={() => revoke(name)}
          >
            <p>{strings.staffRevokeText(name)}</p>
          </ConfirmButton>
        ),
    },
  ]
  return (
    <>
      <h1>{strings.staffTitle}</h1>
      <p>{strings.staffText}</p>
      <ActionForm<Responses['createStaff']>
        submitLabel={strings.staffCreate}
        fields={STAFF_FIELDS}
        send={(input) => request('POST', '/admin/staff', input)}
        secretOf={({ name, token }) => ({ name: strings.staffSecret(name), secret: token })}
        onDone={staff.reload}
      />
      <QueryView query={staff}>
        {(value) => (
          <Table
            caption={strings.staffTitle}
            columns={columns}
            rows={value.staff}
            rowKey={({ name, created }) => `${name} ${created}`}
            csv="staff"
            empty={
              <>
                <p>{strings.staffEmpty}</p>
                <Snippet line="npm run admin -- staff add kim --role support" />
              </>
            }
          />
        )}
      </QueryView>
    </>
  )
}

const PREFIX_LENGTH = 12

const shortenKeys = (text: string): string =>
  text.trim().replace(/\bcq[tso]_\w+/g, (key) => key.slice(0, PREFIX_LENGTH))

/** The search field above every operator page. */
export function SearchField() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const q = shortenKeys(String(new FormData(form).get('q') ?? ''))
    if (q !== '') navigate(pageUrl('search', { q }))
    form.reset()
  }
  return (
    <form class="search" onSubmit={submit}>
      <input
        name="q"
        type="search"
        aria-label={strings.searchLabel}
        placeholder={strings.searchPlaceholder}
        autocomplete="off"
        maxLength={100}
      />
    </form>
  )
}

export function SearchPage() {
  const q = params.value.get('q') ?? ''
  const found = useQuery<Responses['search']>(() => {
    const query = params.value.get('q') ?? ''
    return query === '' ? null : `/admin/search?q=${encodeURIComponent(query)}`
  })
  const { accounts = [], keys = [], refusals = [], audit = [] } = (q !== '' && found.value.value) || {}
  const isEmpty = accounts.length + keys.length + refusals.length + audit.length === 0
  return (
    <>
      <h1>{q === '' ? strings.searchTitle : strings.searchResults(q)}</h1>
      <ErrorNote error={found.error.value} onRetry={found.reload} />
      {q !== '' && found.value.value && isEmpty && <p class="empty">{strings.searchNothing(q)}</p>}
      <FoundTable title={strings.searchAccounts} rows={accounts} columns={ACCOUNT_COLUMNS} />
      <FoundTable title={strings.searchKeys} rows={keys} columns={KEY_COLUMNS} />
      <FoundTable title={strings.searchRefusals} rows={refusals} columns={REFUSAL_COLUMNS} />
      <FoundTable title={strings.searchAudit} rows={audit} columns={AUDIT_COLUMNS} />
    </>
  )
}

type SearchRows = Responses['search']
const ACCOUNT_COLUMNS: readonly Column<SearchRows['accounts'][number]>[] = [
  accountColumn(),
  { name: strings.commonPlan, text: ({ plan }) => plan },
]
const KEY_COLUMNS: readonly Column<SearchRows['keys'][number]>[] = [
  { name: strings.commonKey, text: ({ prefix }) => prefix },
  accountColumn(),
  { name: strings.commonLabel, text: ({ label }) => label },
  timeColumn(strings.searchRevoked, 'revoked', strings.searchNotRevoked),
]
const REFUSAL_COLUMNS: readonly Column<SearchRows['refusals'][number]>[] = [
  timeColumn(strings.commonTime, 'at'),
  accountColumn(),
  { name: strings.commonKey, text: ({ prefix }) => prefix },
  {
    name: strings.commonCode,
    text: ({ code }) => code,
    render: ({ code }) => <span title={code}>{labelOf(code)}</span>,
  },
  { name: strings.commonMessage, text: ({ message }) => message },
]

function FoundTable<Row>({
  title,
  rows,
  columns,
}: {
  title: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
}) {
  if (rows.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <Table caption={title} columns={columns} rows={rows} empty="" />
    </>
  )
}
