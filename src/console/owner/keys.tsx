// The keys of the account: found, made and shown this once, changed, rotated, revoked.

import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { navigate, urlWith, useParam } from '../address.dom.ts'
import { type RequestError, request, requestChange } from '../request.dom.ts'
import { isSecretShown } from '../session.dom.ts'
import { ConfirmDialog, Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { groupedText, hourText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { KeyReachNotes } from '../ui/key-reach.tsx'
import { ErrorNote, infoCurl, Snippet } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { dataVersion, refreshAll, spendVersion } from './account-data.dom.ts'
import { filterKeys, keyInput, stateText } from './account-view.ts'
import type { Account, IssuedKey, Key, KeysPage } from './responses.ts'

const PAGE_SIZE = 1_000

const COLUMNS: readonly Column<Key>[] = [
  { name: 'Key', text: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}…</code> },
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
  const trouble = useSignal<RequestError | null>(null)
  useSignalEffect(() => {
    void dataVersion.value
    // Thousands are asked for page after page: these wait until somebody asks.
    if ((counted.peek()?.counted ?? 0) <= PAGE_SIZE) void spendVersion.value
    const stop = new AbortController()
    const load = async () => {
      let got: readonly Key[] = []
      for (let after: string | null = ''; after !== null; ) {
        const path: string = `/platform/keys/?limit=${PAGE_SIZE}${after === '' ? '' : `&after=${after}`}`
        const answer = await request<KeysPage>('GET', path, undefined, stop.signal)
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

const ACTIONS = ['change', 'rotate', 'revoke'] as const
type KeyAction = 'make' | (typeof ACTIONS)[number]

export function Keys({ account }: { account: Account | null }) {
  const { keys, counted, trouble } = useKeys()
  const acting = useSignal<{ act: KeyAction; key: Key | null } | null>(null)
  const issued = useSignal<IssuedKey | null>(null)
  const words = useParam('key').value
  const isAll = useParam('keys').value === 'all'
  const rows = keys.value === null ? null : filterKeys(keys.value, words, isAll, Date.now())
  const close = () => {
    acting.value = null
  }
  const done = (key: IssuedKey | null) => {
    issued.value = key
    close()
    refreshAll()
  }
  const start = (act: KeyAction, key: Key | null) => () => {
    acting.value = { act, key }
  }
  const actions: Column<Key> = {
    name: 'Actions',
    render: (key) =>
      key.revoked === null &&
      (key.replaced_by === null ? ACTIONS : ACTIONS.filter((act) => act !== 'rotate')).map((act) => (
        <Button key={act} text={act} class="plain" aria-label={`${act} ${key.prefix}`} onClick={start(act, key)} />
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
            onInput={(event) => navigate(urlWith({ key: event.currentTarget.value }), 'replace')}
          />
        </span>
        <label class="inline">
          <input
            type="checkbox"
            checked={isAll}
            onChange={(event) => navigate(urlWith({ keys: event.currentTarget.checked ? 'all' : null }))}
          />{' '}
          with those that ended
        </label>
        {manages && <Button text="New key" class="main" onClick={start('make', null)} />}
        {counted.value && (
          <span class="soft">
            {groupedText(String(counted.value.counted))} of {groupedText(String(counted.value.at_most))} that an account
            may have
          </span>
        )}
      </div>
      {account?.why_not && <p class="note">{account.why_not}</p>}
      <ErrorNote trouble={trouble.value} again={refreshAll} />
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
                <Snippet
                  line={`curl -s ${location.origin}/platform/keys/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"label":"bot"}'`}
                />
              )}
            </>
          }
        />
      )}
      {issued.value && <IssuedKeyDialog issued={issued.value} onClose={() => (issued.value = null)} />}
      <KeyDialog acting={acting.value} onDone={done} onClose={close} />
    </section>
  )
}

interface KeyDialogProps {
  readonly acting: { readonly act: KeyAction; readonly key: Key | null } | null
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

function KeyDialog({ acting, onDone, onClose }: KeyDialogProps) {
  if (acting === null) return null
  const { act, key } = acting
  if (act === 'make' || key === null) return <KeyForm onDone={onDone} onClose={onClose} />
  if (act === 'change') return <KeyForm known={key} onDone={onDone} onClose={onClose} />
  if (act === 'rotate') return <RotateForm of={key} onDone={onDone} onClose={onClose} />
  const revoke = () => requestChange('DELETE', `/platform/keys/${key.hash}`, undefined, () => onDone(null))
  return (
    <ConfirmDialog action="Revoke this key" name={key.prefix} onConfirm={revoke} onClose={onClose}>
      <p>
        <code>{key.prefix}…</code> is refused within 30 s, and its sockets are closed within a minute, for good. If it
        is the key that you signed in with, this page ends too.
      </p>
      <KeyReachNotes path={`/platform/keys/${key.hash}/reach`} adopts />
    </ConfirmDialog>
  )
}

const PRODUCTS = ['info', 'stream', 'rpc', 'graphql', 'data', 'platform']

interface KeyFormProps {
  /** Changed; left out: a new one. */
  readonly known?: Key
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one form, a line for each of its fields.
function KeyForm({ known, onDone, onClose }: KeyFormProps) {
  const label = useSignal(known?.label ?? '')
  const kind = useSignal<string>(known?.kind ?? 'api')
  const products = useSignal<readonly string[]>(known?.products ?? PRODUCTS)
  const cap = useSignal(known?.cap ?? '')
  const pipelines = useSignal<string>(known?.pipelines ?? '')
  const ranges = useSignal(known?.ranges?.join(' ') ?? '')
  const expires = useSignal(known?.expires ? new Date(known.expires).toISOString().slice(0, 10) : '')
  // One for each dialog: a second click, or one after a lost answer, makes no second key.
  const request = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const isApi = kind.value === 'api'
  const send = () => {
    const right = isApi ? '' : pipelines.value
    const bounds = { cap: cap.value, ranges: ranges.value, pipelines: right, expires: expires.value }
    const fields = { label: label.value, ...bounds }
    const order = keyInput(fields, isApi ? products.value : ['platform'], known)
    return known
      ? requestChange<IssuedKey>('PATCH', `/platform/keys/${known.hash}`, order, () => onDone(null))
      : requestChange<IssuedKey>(
          'POST',
          '/platform/keys/',
          { ...order, kind: kind.value, idempotency_key: request.current },
          onDone,
        )
  }
  const toggle = (product: string) => () => {
    const has = products.value.includes(product)
    products.value = has ? products.value.filter((each) => each !== product) : [...products.value, product]
  }
  const set = (of: { value: string }) => (text: string) => {
    of.value = text
  }
  return (
    <Dialog
      title={known ? `Change ${known.prefix}…` : 'New key'}
      submitLabel={known ? 'Change' : 'Make the key'}
      onSend={send}
      onClose={onClose}
    >
      <Field label="Label" hint="for people, at most 100 characters" value={label.value} onText={set(label)} />
      {!known && (
        <p>
          <Select
            label="Kind"
            value={kind.value}
            options={{ api: 'API key (cqt_): asks data', service: 'service key (cqs_): manages the account' }}
            onSelect={set(kind)}
          />
        </p>
      )}
      {isApi && (
        <fieldset>
          <legend>Products</legend>
          {PRODUCTS.map((product) => (
            <label class="inline" key={product}>
              <input type="checkbox" checked={products.value.includes(product)} onChange={toggle(product)} /> {product}
            </label>
          ))}
        </fieldset>
      )}
      {!isApi && (
        <p>
          <Select
            label="Pipelines"
            value={pipelines.value}
            options={{
              ...(known ? {} : { '': 'its own where it has a cap, ranges or an end, else all' }),
              own: 'may touch its own alone',
              all: 'may touch all of the account',
            }}
            onSelect={set(pipelines)}
          />
        </p>
      )}
      <Field label="Cap" hint="credits that it may spend in all; empty: no cap" value={cap.value} onText={set(cap)} />
      <Field
        label="Ranges"
        hint="addresses such as 192.0.2.0/24, with spaces between; empty: any"
        value={ranges.value}
        onText={set(ranges)}
      />
      <Field
        label="Ends"
        hint="00:00 UTC of that day; empty: never"
        isDay
        value={expires.value}
        onText={set(expires)}
      />
    </Dialog>
  )
}

interface RotateProps {
  readonly of: Key
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

function RotateForm({ of, onDone, onClose }: RotateProps) {
  const grace = useSignal('86400')
  const request = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const send = () => {
    const order = { grace_seconds: Number(grace.value), idempotency_key: request.current }
    return requestChange<IssuedKey>('POST', `/platform/keys/${of.hash}/rotate`, order, onDone)
  }
  return (
    <Dialog title={`Rotate ${of.prefix}… ${of.label}`} submitLabel="Rotate" onSend={send} onClose={onClose}>
      <p>
        The new key has the same label, products, ranges and end, and shares the cap and what was spent under it. A key
        is replaced once.
      </p>
      <Select
        label="The old key works for"
        value={grace.value}
        options={{ 0: 'no longer', 3600: 'an hour', 86400: 'a day', 604800: 'a week', 2592000: '30 days' }}
        onSelect={(seconds) => {
          grace.value = seconds
        }}
      />
    </Dialog>
  )
}

function IssuedKeyDialog({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const { key, prefix, label, warnings = [], old_key_ends: ends } = issued
  // It may have replaced the one that was signed in with.
  useEffect(() => {
    isSecretShown.value = true
    return () => {
      isSecretShown.value = false
    }
  }, [])
  return (
    <Dialog title={key ? 'The key, this once' : 'Made before'} onClose={onClose}>
      {key ? (
        <>
          <p>Copy it now: only its hash is kept, and nobody can show it again.</p>
          <Snippet line={key} />
          {key.startsWith('cqt_') && (
            <>
              <p>To try it, in a terminal; the call is on this page some seconds later:</p>
              <Snippet line={infoCurl('{"type":"allMids"}', `'Authorization: Bearer ${key}'`)} />
            </>
          )}
        </>
      ) : (
        <p>
          An earlier click made <code>{prefix}…</code> {label}; its answer was lost, and it is not shown again. Rotate
          it, or revoke it and make another.
        </p>
      )}
      {ends !== undefined && <p>The old key ends {timeText(ends)} UTC.</p>}
      {warnings.map((text) => (
        <p class="note trouble" key={text}>
          {text}
        </p>
      ))}
    </Dialog>
  )
}
