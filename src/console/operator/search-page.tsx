// Accounts, keys and requests, found by what somebody has of them. Law: of a key only what may be shown reaches the address.

import { go, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { useLoaded } from '../loaded.dom.ts'
import { TroubleNote } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { accountColumn, pageAddress, timeColumn } from './parts.tsx'
import { AUDIT_COLUMNS } from './staff-pages.tsx'

const SHOWN = 12

const shownPart = (text: string): string => text.trim().replace(/\bcq[tso]_\w+/g, (key) => key.slice(0, SHOWN))

/** The field that stands above every page. */
export function SearchField() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const q = shownPart(String(new FormData(form).get('q') ?? ''))
    if (q !== '') go(pageAddress('search', { q }))
    form.reset()
  }
  return (
    <form class="search" onSubmit={submit}>
      <input
        name="q"
        type="search"
        aria-label="Search"
        placeholder="Account, first characters of a key, request id"
        autocomplete="off"
        maxLength={100}
      />
    </form>
  )
}

export function SearchPage() {
  const q = params.value.get('q') ?? ''
  const found = useLoaded<Answers['search']>(() => {
    const asked = params.value.get('q') ?? ''
    return asked === '' ? null : `/admin/search?q=${encodeURIComponent(asked)}`
  })
  const shown = q === '' ? null : found.value.value
  const { accounts = [], keys = [], refusals = [], audit = [] } = shown ?? {}
  const isNothing = accounts.length + keys.length + refusals.length + audit.length === 0
  return (
    <>
      <h1>{q === '' ? 'Search' : `Found for “${q}”`}</h1>
      <TroubleNote trouble={found.trouble.value} again={found.reload} />
      {shown && isNothing && (
        <p class="empty">
          Nothing: look for a part of an account’s name, the first characters of a key, or a whole request id.
        </p>
      )}
      {accounts.length > 0 && (
        <>
          <h2>Accounts</h2>
          <Table
            caption="Accounts"
            columns={[accountColumn(), { name: 'Plan', text: ({ plan }) => plan }]}
            rows={accounts}
            rowKey={({ account }) => account}
            empty=""
          />
        </>
      )}
      {keys.length > 0 && (
        <>
          <h2>Keys</h2>
          <Table
            caption="Keys"
            columns={[
              { name: 'Key', text: ({ prefix }) => prefix },
              accountColumn(),
              { name: 'Label', text: ({ label }) => label },
              timeColumn('Revoked', 'revoked', 'no'),
            ]}
            rows={keys}
            rowKey={({ hash }) => hash}
            empty=""
          />
        </>
      )}
      {refusals.length > 0 && (
        <>
          <h2>Refused</h2>
          <Table
            caption="Refusals"
            columns={[
              timeColumn('At', 'at'),
              accountColumn(),
              { name: 'Key', text: ({ prefix }) => prefix },
              { name: 'Code', text: ({ code }) => code },
              { name: 'Said', text: ({ message }) => message },
            ]}
            rows={refusals}
            rowKey={({ at, message }) => `${at} ${message}`}
            empty=""
          />
        </>
      )}
      {audit.length > 0 && (
        <>
          <h2>Done by staff</h2>
          <Table
            caption="Audit"
            columns={AUDIT_COLUMNS}
            rows={audit}
            rowKey={({ number }) => String(number)}
            empty=""
          />
        </>
      )}
    </>
  )
}
