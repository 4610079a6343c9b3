// The keys of the account: search, create, edit, rotate and revoke.

import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { navigate, urlWith, useParam } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import { useSharedFailure } from '../queries.dom.ts'
import { type RequestError, request } from '../request.dom.ts'
import { groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, Reserved, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, linesColumn, minorColumns, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { dataVersion, refreshAll, spendVersion } from './account-data.dom.ts'
import { filterKeys, isActive, lastUsedLines, stateLines } from './account-view.ts'
import { BulkRevokeDialog, IssuedKeyDialog, KEY_ACTIONS, type KeyAction, KeyDialog } from './key-dialogs.tsx'
import type { IssuedKey, Key, KeysPage } from './responses.ts'
import type { SectionProps } from './section.ts'
import * as strings from './strings.ts'

const PAGE_SIZE = 1_000

const COLUMNS: readonly Column<Key>[] = [
  { name: strings.keysColumnsKey, text: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}…</code> },
  {
    name: strings.keysColumnsLabel,
    text: ({ label }) => label,
    render: ({ label, kind }) => (
      <>
        {label}
        <div class="soft">{strings.keysKinds[kind]}</div>
      </>
    ),
  },
  { name: strings.keysColumnsKind, text: ({ kind }) => strings.keysKinds[kind], isHidden: true },
  linesColumn(strings.keysColumnsState, (key) => stateLines(key, nowMs())),
  ...minorColumns<Key>(
    linesColumn(strings.keysColumnsLastUsed, (key) => lastUsedLines(key, nowMs())),
    amountColumn(strings.keysColumnsCap, ({ cap }) => cap ?? ''),
  ),
]
const MORE_COLUMNS: readonly Column<Key>[] = [
  amountColumn(strings.keysColumnsSpent, ({ spent_30_days: spent }) => spent ?? ''),
  amountColumn(strings.keysColumnsLeft, ({ cap_remaining: left }) => left ?? ''),
  {
    name: strings.keysColumnsCreated,
    text: ({ created }) => timeText(created),
    render: ({ created }) => <Time atMs={created} />,
  },
  { name: strings.keysColumnsProducts, text: ({ products }) => products.map(labelOf).join(', ') },
  { name: strings.keysColumnsRanges, text: ({ ranges }) => ranges?.join(' ') ?? '' },
]

/** Loads all keys page by page and shows the keys that have arrived. */
function useKeys() {
  const keys = useSignal<readonly Key[] | null>(null)
  const counted = useSignal<KeysPage | null>(null)
  const error = useSignal<RequestError | null>(null)
  useSignalEffect(() => {
    void dataVersion.value
    // Several pages are reloaded only on request, not whenever credits are spent.
    if ((counted.peek()?.counted ?? 0) <= PAGE_SIZE) void spendVersion.value
    const stop = new AbortController()
    const load = async () => {
      let got: readonly Key[] = []
      for (let after: string | null = ''; after !== null; ) {
        const path: string = `/platform/keys/?limit=${PAGE_SIZE}${after === '' ? '' : `&after=${after}`}`
        const result = await request<KeysPage>('GET', path, undefined, stop.signal)
        error.value = result.ok ? null : result.error
        if (!result.ok) return
        got = [...got, ...result.value.keys]
        counted.value = result.value
        after = result.value.next
        // During a reload, the old list stays visible until the new list has the same length.
        if (after === null || keys.peek() === null || got.length >= (keys.peek()?.length ?? 0)) keys.value = got
      }
    }
    load().catch(() => {})
    return () => stop.abort()
  })
  useSharedFailure(error, refreshAll)
  return { keys, counted, error }
}

export function Keys({ account, owner }: SectionProps) {
  const { keys, counted, error } = useKeys()
  const pending = useSignal<{ action: KeyAction; key: Key | null } | null>(null)
  const issued = useSignal<IssuedKey | null>(null)
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const isRevoking = useSignal(false)
  const search = useParam('key').value
  const isAll = useParam('keys').value === 'all'
  const isFull = useParam('columns').value === 'all'
  const rows = keys.value === null ? null : filterKeys(keys.value, search, isAll, nowMs())
  const chosen = rows?.filter((key) => selected.value.has(key.hash) && key.revoked === null) ?? []
  const manages = account?.manages ?? false
  const isDeveloper = owner.member_role === 'developer'
  const close = () => {
    pending.value = null
  }
  const done = (key: IssuedKey | null) => {
    issued.value = key
    close()
    refreshAll()
  }
  const start = (action: KeyAction, key: Key | null) => {
    pending.value = { action, key }
  }
  const revoked = () => {
    isRevoking.value = false
    selected.value = new Set()
    refreshAll()
  }
  return (
    <>
      <div class="title">
        <h1>{strings.keysTitle}</h1>
        {manages && (
          <span class="beside">
            {chosen.length > 0 && (
              <Button
                text={strings.revokeMany(chosen.length)}
                class="danger"
                onClick={() => (isRevoking.value = true)}
              />
            )}
            <Button text={strings.keysCreate} class="main" onClick={() => start('create', null)} />
          </span>
        )}
      </div>
      {account?.why_not && <p class="note">{account.why_not}</p>}
      <KeySearch search={search} isAll={isAll} isFull={isFull} counted={counted.value} />
      <ErrorNote error={error.value} onRetry={refreshAll} />
      <Reserved height={320} isLoading={rows === null && error.value === null}>
        {rows && (
          <Table
            caption={strings.keysTable}
            columns={[
              ...(manages ? [selectColumn(selected, isDeveloper)] : []),
              ...COLUMNS,
              ...MORE_COLUMNS.map((column) => ({ ...column, isHidden: !isFull })),
              ...(manages ? [actionColumn(start, isDeveloper)] : []),
            ]}
            rows={rows}
            rowKey={({ hash }) => hash}
            csv="keys"
            empty={<NoKeys isSearch={search !== ''} />}
          />
        )}
      </Reserved>
      {issued.value && <IssuedKeyDialog issued={issued.value} onClose={() => (issued.value = null)} />}
      <KeyDialog pending={pending.value} isApiOnly={isDeveloper} onDone={done} onClose={close} />
      {isRevoking.value && (
        <BulkRevokeDialog keys={chosen} onDone={revoked} onClose={() => (isRevoking.value = false)} />
      )}
    </>
  )
}

/** With the most that an account may have when it is near. */
function countText({ counted, at_most: most }: KeysPage): string {
  const count = groupedText(String(counted))
  return counted > 0.8 * most ? strings.keysCountOf(count, groupedText(String(most))) : strings.keysCount(count)
}

interface KeySearchProps {
  readonly search: string
  readonly isAll: boolean
  readonly isFull: boolean
  readonly counted: KeysPage | null
}

const KeySearch = ({ search, isAll, isFull, counted }: KeySearchProps) => (
  <div class="beside">
    <span class="choice">
      <label for="key-words">{strings.keysFind}</label>
      <input
        id="key-words"
        type="search"
        placeholder={strings.keysFindHint}
        value={search}
        onInput={(event) => navigate(urlWith({ key: event.currentTarget.value }), 'replace')}
      />
    </span>
    <label class="inline">
      <input
        type="checkbox"
        checked={isAll}
        onChange={(event) => navigate(urlWith({ keys: event.currentTarget.checked ? 'all' : null }))}
      />{' '}
      {strings.keysShowInactive}
    </label>
    <label class="inline">
      <input
        type="checkbox"
        checked={isFull}
        onChange={(event) => navigate(urlWith({ columns: event.currentTarget.checked ? 'all' : null }))}
      />{' '}
      {strings.keysShowColumns}
    </label>
    {counted && <span class="soft">{countText(counted)}</span>}
  </div>
)

const NoKeys = ({ isSearch }: { readonly isSearch: boolean }) => (
  <>
    <p>{isSearch ? strings.keysNotFound : strings.keysNoKeys}</p>
    {!isSearch && (
      <Snippet
        line={`curl -s ${location.origin}/platform/keys/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"label":"bot"}'`}
      />
    )}
  </>
)

/** Developers change API keys only. */
const isFixed = (key: Key, isDeveloper: boolean) => isDeveloper && key.kind === 'service'

const selectColumn = (selected: Signal<ReadonlySet<string>>, isDeveloper: boolean): Column<Key> => ({
  name: strings.keysColumnsSelect,
  render: (key) =>
    isActive(key, nowMs()) &&
    !isFixed(key, isDeveloper) && (
      <input
        type="checkbox"
        aria-label={strings.keysSelect(key.prefix)}
        checked={selected.value.has(key.hash)}
        onChange={({ currentTarget: { checked } }) => {
          const next = new Set(selected.value)
          if (checked) next.add(key.hash)
          else next.delete(key.hash)
          selected.value = next
        }}
      />
    ),
})

const actionColumn = (start: (action: KeyAction, key: Key) => void, isDeveloper: boolean): Column<Key> => ({
  name: strings.keysColumnsActions,
  render: (key) =>
    key.revoked === null &&
    !isFixed(key, isDeveloper) &&
    (key.replaced_by === null ? KEY_ACTIONS : KEY_ACTIONS.filter((action) => action !== 'rotate')).map((action) => (
      <Button
        key={action}
        text={strings.keysActions[action]}
        class="plain"
        aria-label={`${strings.keysActions[action]} ${key.prefix}`}
        onClick={() => start(action, key)}
      />
    )),
})
