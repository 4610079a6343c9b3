// Accounts, keys and requests, found by what somebody has of them. Law: of a key only what may be shown reaches the address.

import { go, params } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { useLoaded } from '../loaded.dom.ts'
import { TroubleNote } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
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
  const { accounts = [], keys = [], refusals = [], audit = [] } = (q !== '' && found.value.value) || {}
  const isNothing = accounts.length + keys.length + refusals.length + audit.length === 0
  return (
    <>
      <h1>{q === '' ? 'Search' : `Found for “${q}”`}</h1>
      <TroubleNote trouble={found.trouble.value} again={found.reload} />
      {q !== '' && found.value.value && isNothing && (
        <p class="empty">
          Nothing: look for a part of an account’s name, the first characters of a key, or a whole request id.
        </p>
      )}
      <Found title="Accounts" rows={accounts} columns={ACCOUNTS} />
      <Found title="Keys" rows={keys} columns={KEYS} />
      <Found title="Refused" rows={refusals} columns={REFUSALS} />
      <Found title="Done by staff" rows={audit} columns={AUDIT_COLUMNS} />
    </>
  )
}

type Rows = Answers['search']
const ACCOUNTS: readonly Column<Rows['accounts'][number]>[] = [
  accountColumn(),
  { name: 'Plan', text: ({ plan }) => plan },
]
const KEYS: readonly Column<Rows['keys'][number]>[] = [
  { name: 'Key', text: ({ prefix }) => prefix },
  accountColumn(),
  { name: 'Label', text: ({ label }) => label },
  timeColumn('Revoked', 'revoked', 'no'),
]
const REFUSALS: readonly Column<Rows['refusals'][number]>[] = [
  timeColumn('At', 'at'),
  accountColumn(),
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Said', text: ({ message }) => message },
]

function Found<Row>({
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
