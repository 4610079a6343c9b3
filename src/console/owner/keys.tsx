// The keys of the account: found, made, changed, rotated, revoked.

import { useSignal, useSignalEffect } from '@preact/signals'
import { addressWith, go, useParam } from '../address.dom.ts'
import { ask, change, type Trouble } from '../ask.dom.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Curl, TroubleNote } from '../ui/parts.tsx'
import { KeyReach } from '../ui/reach.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { groupedText, hourText, timeText } from '../ui/text.ts'
import type { Account, Issued, Key, KeysPage } from './answers.ts'
import { KeyForm, KeyShown, RotateForm } from './key-forms.tsx'
import { askAgain, round, spending } from './own.dom.ts'
import { foundKeys, stateText } from './owner-words.ts'

const PAGE = 1_000

const COLUMNS: readonly Column<Key>[] = [
  { name: 'Key', text: ({ prefix }) => prefix, draw: ({ prefix }) => <code>{prefix}…</code> },
  { name: 'Label', text: ({ label }) => label },
  { name: 'Kind', text: ({ kind }) => kind },
  { name: 'State', text: (key) => stateText(key, Date.now()) },
  amountColumn('Spent, 30 days', ({ spent_30_days: spent }) => spent ?? ''),
  amountColumn('Cap', ({ cap }) => cap ?? ''),
  amountColumn('Left of it', ({ cap_remaining: left }) => left ?? ''),
  { name: 'Last used', text: ({ last_used: used }) => (used === null ? '' : hourText(used)) },
  { name: 'Made', text: ({ created }) => timeText(created) },
  { name: 'Products', text: ({ products }) => products.join(' ') },
  { name: 'Ranges', text: ({ ranges }) => ranges?.join(' ') ?? '' },
]

/** All of them, page after page; what is there is shown meanwhile. */
function useKeys() {
  const keys = useSignal<readonly Key[] | null>(null)
  const counted = useSignal<KeysPage | null>(null)
  const trouble = useSignal<Trouble | null>(null)
  useSignalEffect(() => {
    void round.value
    // Thousands are asked for page after page: these wait until somebody asks.
    if ((counted.peek()?.counted ?? 0) <= PAGE) void spending.value
    const stop = new AbortController()
    const load = async () => {
      let got: readonly Key[] = []
      for (let after: string | null = ''; after !== null; ) {
        const path: string = `/platform/keys/?limit=${PAGE}${after === '' ? '' : `&after=${after}`}`
        const answer = await ask<KeysPage>('GET', path, undefined, stop.signal)
        trouble.value = answer.ok ? null : answer.error
        if (!answer.ok) return
        got = [...got, ...answer.value.keys]
        counted.value = answer.value
        after = answer.value.next
        // A list that is asked for again stays whole until it is there again.
        if (after === null || keys.peek() === null || got.length >= (keys.peek()?.length ?? 0)) keys.value = got
      }
    }
    load().catch(() => {})
    return () => stop.abort()
  })
  return { keys, counted, trouble }
}

const ACTS = ['change', 'rotate', 'revoke'] as const
type Act = 'make' | (typeof ACTS)[number]

export function Keys({ account }: { account: Account | null }) {
  const { keys, counted, trouble } = useKeys()
  const acting = useSignal<{ act: Act; key: Key | null } | null>(null)
  const issued = useSignal<Issued | null>(null)
  const words = useParam('key').value
  const isAll = useParam('keys').value === 'all'
  const rows = keys.value === null ? null : foundKeys(keys.value, words, isAll, Date.now())
  const close = () => {
    acting.value = null
  }
  const done = (key: Issued | null) => {
    issued.value = key
    close()
    askAgain()
  }
  const start = (act: Act, key: Key | null) => () => {
    acting.value = { act, key }
  }
  const actions: Column<Key> = {
    name: 'Actions',
    draw: (key) =>
      key.revoked === null &&
      (key.replaced_by === null ? ACTS : ACTS.filter((act) => act !== 'rotate')).map((act) => (
        <button key={act} type="button" class="plain" aria-label={`${act} ${key.prefix}`} onClick={start(act, key)}>
          {act}
        </button>
      )),
  }
  const manages = account?.manages ?? false
  return (
    <section>
      <h2>Keys</h2>
      <div class="beside">
        <span class="choice">
          <label for="key-words">Find</label>
          <input
            id="key-words"
            type="search"
            placeholder="label, prefix or address"
            value={words}
            onInput={(event) => go(addressWith({ key: event.currentTarget.value }), 'replace')}
          />
        </span>
        <label class="inline">
          <input
            type="checkbox"
            checked={isAll}
            onChange={(event) => go(addressWith({ keys: event.currentTarget.checked ? 'all' : null }))}
          />{' '}
          with those that ended
        </label>
        {manages && (
          <button type="button" class="main" onClick={start('make', null)}>
            New key
          </button>
        )}
        {counted.value && (
          <span class="soft">
            {groupedText(String(counted.value.counted))} of {groupedText(String(counted.value.at_most))} that an account
            may have
          </span>
        )}
      </div>
      {account?.why_not && <p class="note">{account.why_not}</p>}
      <TroubleNote trouble={trouble.value} again={askAgain} />
      {rows && (
        <Table
          caption="Keys of the account"
          columns={manages ? [...COLUMNS.slice(0, 4), actions, ...COLUMNS.slice(4)] : COLUMNS}
          rows={rows}
          rowKey={({ hash }) => hash}
          csv="keys"
          empty={
            <>
              <p>
                {words === '' ? 'There are no live keys. One is made here, or with a service key:' : 'No key is found.'}
              </p>
              {words === '' && (
                <Curl
                  line={`curl -s ${location.origin}/platform/keys/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"label":"bot"}'`}
                />
              )}
            </>
          }
        />
      )}
      {issued.value && <KeyShown issued={issued.value} onClose={() => (issued.value = null)} />}
      <KeyActs acting={acting.value} onDone={done} onClose={close} />
    </section>
  )
}

interface ActsProps {
  readonly acting: { readonly act: Act; readonly key: Key | null } | null
  readonly onDone: (issued: Issued | null) => void
  readonly onClose: () => void
}

function KeyActs({ acting, onDone, onClose }: ActsProps) {
  if (acting === null) return null
  const { act, key } = acting
  if (act === 'make' || key === null) return <KeyForm onDone={onDone} onClose={onClose} />
  if (act === 'change') return <KeyForm known={key} onDone={onDone} onClose={onClose} />
  if (act === 'rotate') return <RotateForm of={key} onDone={onDone} onClose={onClose} />
  const revoke = () => change('DELETE', `/platform/keys/${key.hash}`, undefined, () => onDone(null))
  return (
    <Confirm act="Revoke this key" name={key.prefix} onConfirm={revoke} onClose={onClose}>
      <p>
        <code>{key.prefix}…</code> is refused within 30 s, and its sockets are closed within a minute, for good. If it
        is the key that you signed in with, this page ends too.
      </p>
      <KeyReach path={`/platform/keys/${key.hash}/reach`} adopts />
    </Confirm>
  )
}
