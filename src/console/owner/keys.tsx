// The keys of the account: search, create, edit, rotate and revoke.

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
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { dataVersion, refreshAll, spendVersion } from './account-data.dom.ts'
import { filterKeys, keyInput, stateText } from './account-view.ts'
import type { Account, IssuedKey, Key, KeysPage } from './responses.ts'
import * as strings from './strings.ts'

const PAGE_SIZE = 1_000

const COLUMNS: readonly Column<Key>[] = [
  { name: strings.keysColumnsKey, text: ({ prefix }) => prefix, render: ({ prefix }) => <code>{prefix}…</code> },
  { name: strings.keysColumnsLabel, text: ({ label }) => label },
  { name: strings.keysColumnsKind, text: ({ kind }) => strings.keysKinds[kind] },
  { name: strings.keysColumnsState, text: (key) => stateText(key, Date.now()) },
  amountColumn(strings.keysColumnsSpent, ({ spent_30_days: spent }) => spent ?? ''),
  amountColumn(strings.keysColumnsCap, ({ cap }) => cap ?? ''),
  amountColumn(strings.keysColumnsLeft, ({ cap_remaining: left }) => left ?? ''),
  { name: strings.keysColumnsLastUsed, text: ({ last_used: used }) => (used === null ? '' : hourText(used)) },
  { name: strings.keysColumnsCreated, text: ({ created }) => timeText(created) },
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
  return { keys, counted, error }
}

const ACTIONS = ['change', 'rotate', 'revoke'] as const
type KeyAction = 'create' | (typeof ACTIONS)[number]

export function Keys({ account }: { account: Account | null }) {
  const { keys, counted, error } = useKeys()
  const pending = useSignal<{ action: KeyAction; key: Key | null } | null>(null)
  const issued = useSignal<IssuedKey | null>(null)
  const search = useParam('key').value
  const isAll = useParam('keys').value === 'all'
  const rows = keys.value === null ? null : filterKeys(keys.value, search, isAll, Date.now())
  const close = () => {
    pending.value = null
  }
  const done = (key: IssuedKey | null) => {
    issued.value = key
    close()
    refreshAll()
  }
  const start = (action: KeyAction, key: Key | null) => () => {
    pending.value = { action, key }
  }
  const actions: Column<Key> = {
    name: strings.keysColumnsActions,
    render: (key) =>
      key.revoked === null &&
      (key.replaced_by === null ? ACTIONS : ACTIONS.filter((action) => action !== 'rotate')).map((action) => (
        <Button
          key={action}
          text={strings.keysActions[action]}
          class="plain"
          aria-label={`${strings.keysActions[action]} ${key.prefix}`}
          onClick={start(action, key)}
        />
      )),
  }
  const manages = account?.manages ?? false
  return (
    <section>
      <h2>{strings.keysTitle}</h2>
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
        {manages && <Button text={strings.keysCreate} class="main" onClick={start('create', null)} />}
        {counted.value && (
          <span class="soft">
            {strings.keysCount(groupedText(String(counted.value.counted)), groupedText(String(counted.value.at_most)))}
          </span>
        )}
      </div>
      {account?.why_not && <p class="note">{account.why_not}</p>}
      <ErrorNote error={error.value} onRetry={refreshAll} />
      {rows && (
        <Table
          caption={strings.keysTable}
          columns={manages ? [...COLUMNS.slice(0, 4), actions, ...COLUMNS.slice(4)] : COLUMNS}
          rows={rows}
          rowKey={({ hash }) => hash}
          csv="keys"
          empty={
            <>
              <p>{search === '' ? strings.keysNoKeys : strings.keysNotFound}</p>
              {search === '' && (
                <Snippet
                  line={`curl -s ${location.origin}/platform/keys/ -H "Authorization: Bearer $WEIR_SERVICE_KEY" -H 'Content-Type: application/json' -d '{"label":"bot"}'`}
                />
              )}
            </>
          }
        />
      )}
      {issued.value && <IssuedKeyDialog issued={issued.value} onClose={() => (issued.value = null)} />}
      <KeyDialog pending={pending.value} onDone={done} onClose={close} />
    </section>
  )
}

interface KeyDialogProps {
  readonly pending: { readonly action: KeyAction; readonly key: Key | null } | null
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

function KeyDialog({ pending, onDone, onClose }: KeyDialogProps) {
  if (pending === null) return null
  const { action, key } = pending
  if (action === 'create' || key === null) return <KeyForm onDone={onDone} onClose={onClose} />
  if (action === 'change') return <KeyForm known={key} onDone={onDone} onClose={onClose} />
  if (action === 'rotate') return <RotateForm of={key} onDone={onDone} onClose={onClose} />
  const revoke = () => requestChange('DELETE', `/platform/keys/${key.hash}`, undefined, () => onDone(null))
  return (
    <ConfirmDialog action={strings.revokeSubmit} name={key.prefix} onConfirm={revoke} onClose={onClose}>
      <p>
        <code>{key.prefix}…</code>
        {strings.revokeText}
      </p>
      <KeyReachNotes path={`/platform/keys/${key.hash}/reach`} canAdopt />
    </ConfirmDialog>
  )
}

const PRODUCTS = ['info', 'stream', 'rpc', 'graphql', 'data', 'platform']

interface KeyFormProps {
  /** The key to edit. If it is omitted, a key is created. */
  readonly known?: Key
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

function KeyForm({ known, onDone, onClose }: KeyFormProps) {
  const label = useSignal(known?.label ?? '')
  const kind = useSignal<string>(known?.kind ?? 'api')
  const products = useSignal<readonly string[]>(known?.products ?? PRODUCTS)
  const cap = useSignal(known?.cap ?? '')
  const pipelines = useSignal<string>(known?.pipelines ?? '')
  const ranges = useSignal(known?.ranges?.join(' ') ?? '')
  const expires = useSignal(known?.expires ? new Date(known.expires).toISOString().slice(0, 10) : '')
  // One idempotency key per dialog: a second click, or a retry after a lost response, creates no second key.
  const request = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const isApi = kind.value === 'api'
  const send = () => {
    const pipelineScope = isApi ? '' : pipelines.value
    const bounds = { cap: cap.value, ranges: ranges.value, pipelines: pipelineScope, expires: expires.value }
    const fields = { label: label.value, ...bounds }
    const input = keyInput(fields, isApi ? products.value : ['platform'], known)
    return known
      ? requestChange<IssuedKey>('PATCH', `/platform/keys/${known.hash}`, input, () => onDone(null))
      : requestChange<IssuedKey>(
          'POST',
          '/platform/keys/',
          { ...input, kind: kind.value, idempotency_key: request.current },
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
      title={known ? strings.keyFormEditTitle(known.prefix) : strings.keysCreate}
      submitLabel={known ? strings.keyFormSave : strings.keysCreate}
      onSend={send}
      onClose={onClose}
    >
      <Field label={strings.keyFormLabel} hint={strings.keyFormLabelHint} value={label.value} onText={set(label)} />
      {!known && (
        <p>
          <Select label={strings.keyFormKind} value={kind.value} options={strings.keyFormKinds} onSelect={set(kind)} />
        </p>
      )}
      {isApi && (
        <fieldset>
          <legend>{strings.keyFormProducts}</legend>
          {PRODUCTS.map((product) => (
            <label class="inline" key={product}>
              <input type="checkbox" checked={products.value.includes(product)} onChange={toggle(product)} />{' '}
              {labelOf(product)}
            </label>
          ))}
        </fieldset>
      )}
      {!isApi && (
        <p>
          <Select
            label={strings.keyFormPipelines}
            value={pipelines.value}
            options={
              known
                ? { own: strings.keyFormPipelineOptions.own, all: strings.keyFormPipelineOptions.all }
                : strings.keyFormPipelineOptions
            }
            onSelect={set(pipelines)}
          />
        </p>
      )}
      <Field label={strings.keyFormCap} hint={strings.keyFormCapHint} value={cap.value} onText={set(cap)} />
      <Field label={strings.keyFormRanges} hint={strings.keyFormRangesHint} value={ranges.value} onText={set(ranges)} />
      <Field
        label={strings.keyFormExpires}
        hint={strings.keyFormExpiresHint}
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
    const body = { grace_seconds: Number(grace.value), idempotency_key: request.current }
    return requestChange<IssuedKey>('POST', `/platform/keys/${of.hash}/rotate`, body, onDone)
  }
  return (
    <Dialog
      title={strings.rotateTitle(of.prefix, of.label)}
      submitLabel={strings.rotateSubmit}
      onSend={send}
      onClose={onClose}
    >
      <p>{strings.rotateText}</p>
      <Select
        label={strings.rotateGrace}
        value={grace.value}
        options={strings.rotateGraces}
        onSelect={(seconds) => {
          grace.value = seconds
        }}
      />
    </Dialog>
  )
}

function IssuedKeyDialog({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const { key, prefix, label, warnings = [], old_key_ends: ends } = issued
  // Rotation may have replaced the key of this session; keep the page until the secret is closed.
  useEffect(() => {
    isSecretShown.value = true
    return () => {
      isSecretShown.value = false
    }
  }, [])
  return (
    <Dialog
      title={key ? strings.issuedTitles[key.startsWith('cqs_') ? 'service' : 'api'] : strings.issuedRepeatedTitle}
      onClose={onClose}
    >
      {key ? (
        <>
          <p>{strings.issuedText}</p>
          <Snippet line={key} />
          {key.startsWith('cqt_') && (
            <>
              <p>{strings.issuedTest}</p>
              <Snippet line={infoCurl('{"type":"allMids"}', `'Authorization: Bearer ${key}'`)} />
            </>
          )}
        </>
      ) : (
        <p>{strings.issuedRepeated(prefix, label)}</p>
      )}
      {ends !== undefined && <p>{strings.issuedOldKeyEnds(timeText(ends))}</p>}
      {warnings.map((text) => (
        <p class="note trouble" key={text}>
          {text}
        </p>
      ))}
    </Dialog>
  )
}
