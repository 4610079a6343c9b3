// The staff page, the audit log and the results of a search. Invariant: a new token is shown once and never stored.

import { useSignal } from '@preact/signals'
import { STAFF_ROLES, type StaffRole } from '../../accounts/staff.ts'
import { pageUrl, params } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, QueryView, Snippet } from '../ui/parts.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, Table } from '../ui/table.tsx'
import { type AuditLine, actionText, inputText, outcomeText, targetOf } from './audit-words.ts'
import { accountColumn, ListPage, timeColumn, useAdminList } from './parts.tsx'
import * as staffStrings from './staff-strings.ts'
import * as strings from './strings.ts'

const AUDIT_COLUMNS: readonly Column<AuditLine>[] = [
  timeColumn(strings.commonTime, 'at'),
  {
    name: staffStrings.auditActor,
    text: ({ actor }) => actor,
    render: ({ actor }) => <Link to={pageUrl('audit', { actor })}>{actor}</Link>,
  },
  { name: staffStrings.auditRole, text: ({ role }) => labelOf(role) },
  {
    name: staffStrings.auditAction,
    text: actionText,
    render: (line) => <span title={line.action}>{actionText(line)}</span>,
  },
  {
    name: staffStrings.auditTarget,
    text: ({ target }) => target,
    render: (line) => {
      const target = targetOf(line)
      // The next column shows the account.
      const isAccount = target?.page === 'account' && target.text === line.account
      return target && !isAccount && <Link to={pageUrl(target.page, target.params)}>{target.text}</Link>
    },
  },
  accountColumn(),
  {
    name: staffStrings.auditResult,
    text: outcomeText,
    render: (line) => (
      <span class={line.status !== null && line.status < 300 ? 'good' : 'bad'}>{outcomeText(line)}</span>
    ),
  },
  {
    name: staffStrings.auditInput,
    text: ({ sent }) => sent,
    render: ({ sent }) =>
      sent !== '' && (
        <details class="sent">
          <summary>{inputText({ sent })}</summary>
          <code>{sent}</code>
        </details>
      ),
  },
  { name: strings.commonRequest, text: ({ request_id: id }) => id, isHidden: true },
]

const AUDIT_ACTIONS = {
  '': staffStrings.auditAllActions,
  ...Object.fromEntries(Object.entries(staffStrings.auditActions).map(([id, [text]]) => [id, text])),
}
const AUDIT_FIELDS = [
  { name: 'actor', label: staffStrings.auditActor },
  { name: 'action', label: staffStrings.auditAction, options: AUDIT_ACTIONS },
  { name: 'account', label: strings.commonAccount },
  { name: 'from', label: staffStrings.auditFrom, type: 'date' },
  { name: 'to', label: staffStrings.auditTo, type: 'date' },
] as const

export function AuditPage() {
  return (
    <ListPage
      caption={staffStrings.auditTitle}
      fields={AUDIT_FIELDS}
      paged={useAdminList<AuditLine>('audit', 'before', 'audit', AUDIT_FIELDS)}
      columns={AUDIT_COLUMNS}
      empty={staffStrings.auditEmpty}
      csv="audit"
    >
      <p>{staffStrings.auditText}</p>
    </ListPage>
  )
}

type Member = Responses['listStaff']['staff'][number]

export function StaffPage() {
  const staff = useQuery<Responses['listStaff']>(() => '/admin/staff')
  const revoke = (name: string) =>
    requestChange('DELETE', `/admin/staff/${encodeURIComponent(name)}`, undefined, staff.reload)
  const columns: readonly Column<Member>[] = [
    { name: staffStrings.staffName, text: ({ name }) => name },
    { name: staffStrings.staffRole, text: ({ role }) => labelOf(role) },
    timeColumn(staffStrings.staffCreated, 'created'),
    {
      name: strings.commonState,
      text: ({ revoked }) =>
        revoked === null ? staffStrings.staffActive : staffStrings.staffRevoked(timeText(revoked)),
    },
    {
      name: strings.commonActions,
      render: ({ name, revoked }) =>
        revoked === null && (
          <ConfirmButton
            buttonLabel={staffStrings.staffRevoke}
            label={staffStrings.staffRevokeLabel(name)}
            action={staffStrings.staffRevokeSubmit}
            name={name}
            onConfirm={() => revoke(name)}
          >
            <p>{staffStrings.staffRevokeText(name)}</p>
          </ConfirmButton>
        ),
    },
  ]
  return (
    <>
      <div class="title">
        <h1>{staffStrings.staffTitle}</h1>
        <CreateToken onDone={staff.reload} />
      </div>
      <p>{staffStrings.staffText}</p>
      <QueryView query={staff}>
        {(value) => (
          <Table
            caption={staffStrings.staffTitle}
            columns={columns}
            rows={value.staff}
            rowKey={({ name, created }) => `${name} ${created}`}
            csv="staff"
            empty={
              <>
                <p>{staffStrings.staffEmpty}</p>
                <Snippet line="npx weir admin staff add kim --role support" />
              </>
            }
          />
        )}
      </QueryView>
    </>
  )
}

/** A button with its dialog, and then one with the token. */
function CreateToken({ onDone }: { readonly onDone: () => void }) {
  const isOpen = useSignal(false)
  const created = useSignal<Responses['createStaff'] | null>(null)
  const name = useSignal('')
  const role = useSignal<StaffRole>('support')
  const open = () => {
    name.value = ''
    role.value = 'support'
    isOpen.value = true
  }
  const send = async () => {
    const body = { name: name.value.trim(), role: role.value }
    const result = await request<Responses['createStaff']>('POST', '/admin/staff', body)
    if (!result.ok) return result.error
    isOpen.value = false
    created.value = result.value
    onDone()
    return null
  }
  return (
    <>
      <Button text={staffStrings.staffCreate} class="main" onClick={open} />
      {isOpen.value && (
        <Dialog
          title={staffStrings.staffCreate}
          submitLabel={staffStrings.staffCreateSubmit}
          isIncomplete={name.value.trim() === ''}
          onSend={send}
          onClose={() => (isOpen.value = false)}
        >
          <Field label={staffStrings.staffName} value={name.value} onText={(text) => (name.value = text)} />
          <fieldset class="roles">
            <legend>{staffStrings.staffRole}</legend>
            {STAFF_ROLES.map((each) => (
              <label class="inline" key={each}>
                <input type="radio" name="role" checked={role.value === each} onChange={() => (role.value = each)} />
                {staffStrings.staffRoles[each]}
              </label>
            ))}
          </fieldset>
        </Dialog>
      )}
      {created.value && (
        <SecretDialog
          title={staffStrings.staffSecret(created.value.name)}
          text={staffStrings.staffSecretText}
          secret={created.value.token}
          onClose={() => (created.value = null)}
        />
      )}
    </>
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
  { name: strings.commonPlan, text: ({ plan }) => labelOf(plan) },
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
