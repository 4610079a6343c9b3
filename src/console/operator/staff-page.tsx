// Who administers, with tokens of their own. Law: a new token is on the page once, and in nothing that is kept.

import { useSignal } from '@preact/signals'
import { ask, type Trouble } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Curl } from '../ui/curl.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { timeText } from '../ui/when.ts'
import { timeColumn } from './cells.tsx'

interface Member {
  readonly name: string
  readonly role: string
  readonly created: number
  readonly revoked: number | null
}

const ROLES = [
  ['support', 'reads'],
  ['billing', 'reads, tops up, changes plans of accounts'],
  ['owner', 'everything'],
] as const

export function StaffPage() {
  const staff = useLoaded<{ staff: Member[] }>(() => '/admin/staff')
  const doomed = useSignal<string | null>(null)
  const revoke = async () => {
    const answer = await ask('DELETE', `/admin/staff/${encodeURIComponent(doomed.value!)}`)
    if (answer.ok) staff.reload()
    return answer.ok ? null : answer.error
  }
  const columns: readonly Column<Member>[] = [
    { name: 'Name', text: ({ name }) => name },
    { name: 'Role', text: ({ role }) => role },
    timeColumn('Token made', 'created'),
    { name: 'State', text: ({ revoked }) => (revoked === null ? 'works' : `revoked ${timeText(revoked)}`) },
    {
      name: 'Act',
      text: () => '',
      draw: ({ name, revoked }) =>
        revoked === null && (
          <button type="button" class="plain" aria-label={`Revoke ${name}`} onClick={() => (doomed.value = name)}>
            Revoke
          </button>
        ),
    },
  ]
  return (
    <>
      <h1>Staff</h1>
      <p>
        Whoever has ADMIN_TOKEN is “operator” and may do everything; all others have a token and a role of their own.
      </p>
      <NewToken made={staff.reload} />
      <TroubleNote trouble={staff.trouble.value} again={staff.reload} />
      {staff.value.value && (
        <Table
          caption="Staff"
          columns={columns}
          rows={staff.value.value.staff}
          rowKey={({ name, created }) => `${name} ${created}`}
          csv="staff"
          empty={
            <>
              <p>Nobody has a token of their own. From a terminal:</p>
              <Curl line="npm run admin -- staff add kim --role support" />
            </>
          }
        />
      )}
      {doomed.value && (
        <Confirm act="Revoke this token" name={doomed.value} onConfirm={revoke} onClose={() => (doomed.value = null)}>
          <p>{doomed.value} is signed out everywhere at once. Their lines of the audit stay.</p>
        </Confirm>
      )}
    </>
  )
}

function NewToken({ made }: { made: () => void }) {
  const token = useSignal<{ readonly name: string; readonly token: string } | null>(null)
  const trouble = useSignal<Trouble | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const answer = await ask<{ name: string; token: string }>(
      'POST',
      '/admin/staff',
      Object.fromEntries(new FormData(form)),
    )
    trouble.value = answer.ok ? null : answer.error
    if (!answer.ok) return
    token.value = answer.value
    form.reset()
    made()
  }
  return (
    <>
      <form class="filters" onSubmit={submit}>
        <label>
          Name
          <input name="name" required maxLength={64} autocomplete="off" />
        </label>
        <label>
          Role
          <select name="role">
            {ROLES.map(([role, what]) => (
              <option key={role} value={role}>
                {role}: {what}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Make a token</button>
      </form>
      <TroubleNote trouble={trouble.value} />
      {token.value && (
        <div class="note" role="status">
          <p>The token of {token.value.name}, shown this once:</p>
          <Curl line={token.value.token} />
          <button type="button" onClick={() => (token.value = null)}>
            I have kept it
          </button>
        </div>
      )}
    </>
  )
}
