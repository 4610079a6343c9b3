// Dialogs that create, edit, rotate and revoke keys.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { type RequestError, requestChange } from '../request.dom.ts'
import { ConfirmDialog, Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { timeText } from '../ui/format.ts'
import { KeyCheck } from '../ui/key-check.tsx'
import { KeyReachNotes } from '../ui/key-reach.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { labelOf } from '../ui/strings.ts'
import { keyInput } from './account-view.ts'
import type { IssuedKey, Key } from './responses.ts'
import * as strings from './strings.ts'

export const KEY_ACTIONS = ['change', 'rotate', 'revoke'] as const
export type KeyAction = 'create' | (typeof KEY_ACTIONS)[number]

interface KeyDialogProps {
  readonly pending: { readonly action: KeyAction; readonly key: Key | null } | null
  /** Creates API keys only. */
  readonly isApiOnly: boolean
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

export function KeyDialog({ pending, isApiOnly, onDone, onClose }: KeyDialogProps) {
  if (pending === null) return null
  const { action, key } = pending
  if (action === 'create' || key === null) return <KeyForm isApiOnly={isApiOnly} onDone={onDone} onClose={onClose} />
  if (action === 'change') return <KeyForm known={key} isApiOnly={isApiOnly} onDone={onDone} onClose={onClose} />
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
  readonly isApiOnly: boolean
  readonly onDone: (issued: IssuedKey | null) => void
  readonly onClose: () => void
}

function KeyForm({ known, isApiOnly, onDone, onClose }: KeyFormProps) {
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
  const toggle = (product: string) => {
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
      {!known && !isApiOnly && (
        <p>
          <Select label={strings.keyFormKind} value={kind.value} options={strings.keyFormKinds} onSelect={set(kind)} />
        </p>
      )}
      <details open={known !== undefined}>
        <summary>{strings.keyFormLimits}</summary>
        {isApi && <Products chosen={products.value} onToggle={toggle} />}
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
        <Field
          label={strings.keyFormRanges}
          hint={strings.keyFormRangesHint}
          value={ranges.value}
          onText={set(ranges)}
        />
        <Field
          label={strings.keyFormExpires}
          hint={strings.keyFormExpiresHint}
          isDay
          value={expires.value}
          onText={set(expires)}
        />
      </details>
    </Dialog>
  )
}

interface ProductsProps {
  readonly chosen: readonly string[]
  readonly onToggle: (product: string) => void
}

const Products = ({ chosen, onToggle }: ProductsProps) => (
  <fieldset class="roles">
    <legend>{strings.keyFormProducts}</legend>
    {PRODUCTS.map((product) => (
      <label class="inline" key={product}>
        <input type="checkbox" checked={chosen.includes(product)} onChange={() => onToggle(product)} />
        <span>
          {labelOf(product)} <small class="soft">{strings.keyFormProductHints[product]}</small>
        </span>
      </label>
    ))}
  </fieldset>
)

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

interface BulkRevokeProps {
  readonly keys: readonly Key[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Revokes several keys after one confirmation. After a failure, sending again goes on with the keys that are left. */
export function BulkRevokeDialog({ keys, onDone, onClose }: BulkRevokeProps) {
  const revoked = useSignal<ReadonlySet<string>>(new Set())
  const revoke = async (): Promise<RequestError | null> => {
    for (const { hash } of keys.filter((key) => !revoked.value.has(key.hash))) {
      const error = await requestChange('DELETE', `/platform/keys/${hash}`, undefined, () => {
        revoked.value = new Set([...revoked.value, hash])
      })
      if (error !== null) return error
    }
    onDone()
    return null
  }
  const close = () => (revoked.value.size > 0 ? onDone() : onClose())
  return (
    <ConfirmDialog
      action={strings.revokeMany(keys.length)}
      name={strings.revokeManyName(keys.length)}
      onConfirm={revoke}
      onClose={close}
    >
      <p>{strings.revokeManyText}</p>
      <ul class="prefixes">
        {keys.map(({ hash, prefix, label }) => (
          <li key={hash} class={revoked.value.has(hash) ? 'soft' : ''}>
            <code>{prefix}…</code> {label}
          </li>
        ))}
      </ul>
      <p role="status">{revoked.value.size > 0 && strings.revokeManyDone(revoked.value.size, keys.length)}</p>
    </ConfirmDialog>
  )
}

export function IssuedKeyDialog({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const { key, prefix, label, warnings = [], old_key_ends: ends } = issued
  const notes = (
    <>
      {ends !== undefined && <p>{strings.issuedOldKeyEnds(timeText(ends))}</p>}
      {warnings.map((text) => (
        <p class="note trouble" key={text}>
          {text}
        </p>
      ))}
    </>
  )
  if (!key)
    return (
      <Dialog title={strings.issuedRepeatedTitle} onClose={onClose}>
        <p>{strings.issuedRepeated(prefix, label)}</p>
        {notes}
      </Dialog>
    )
  return (
    <SecretDialog
      title={strings.issuedTitles[key.startsWith('cqs_') ? 'service' : 'api']}
      text={strings.issuedText}
      secret={key}
      onClose={onClose}
    >
      <KeyCheck apiKey={key} />
      {notes}
    </SecretDialog>
  )
}
