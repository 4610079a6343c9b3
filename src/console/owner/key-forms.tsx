// Making a key, changing or rotating one; and a new key, this once.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { change } from '../ask.dom.ts'
import { Dialog, Field } from '../ui/dialog.tsx'
import { Choice } from '../ui/form.tsx'
import { Curl, infoLine } from '../ui/parts.tsx'
import { timeText } from '../ui/text.ts'
import { isShowing } from '../visit.dom.ts'
import type { Issued, Key } from './answers.ts'
import { keyOrder } from './owner-words.ts'

const PRODUCTS = ['info', 'stream', 'rpc', 'graphql', 'data', 'platform']

interface KeyFormProps {
  /** Changed; left out: a new one. */
  readonly known?: Key
  readonly onDone: (issued: Issued | null) => void
  readonly onClose: () => void
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one form, a line for each of its fields.
export function KeyForm({ known, onDone, onClose }: KeyFormProps) {
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
    const order = keyOrder(fields, isApi ? products.value : ['platform'], known)
    return known
      ? change<Issued>('PATCH', `/platform/keys/${known.hash}`, order, () => onDone(null))
      : change<Issued>(
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
      act={known ? 'Change' : 'Make the key'}
      onSend={send}
      onClose={onClose}
    >
      <Field label="Label" hint="for people, at most 100 characters" value={label.value} onText={set(label)} />
      {!known && (
        <p>
          <Choice
            label="Kind"
            value={kind.value}
            options={[
              ['api', 'API key (cqt_): asks data'],
              ['service', 'service key (cqs_): manages the account'],
            ]}
            onChoose={set(kind)}
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
          <Choice
            label="Pipelines"
            value={pipelines.value}
            options={[
              ...(known ? [] : [['', 'its own where it has a cap, ranges or an end, else all'] as const]),
              ['own', 'may touch its own alone'],
              ['all', 'may touch all of the account'],
            ]}
            onChoose={set(pipelines)}
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
  readonly onDone: (issued: Issued | null) => void
  readonly onClose: () => void
}

export function RotateForm({ of, onDone, onClose }: RotateProps) {
  const grace = useSignal('86400')
  const request = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const send = () => {
    const order = { grace_seconds: Number(grace.value), idempotency_key: request.current }
    return change<Issued>('POST', `/platform/keys/${of.hash}/rotate`, order, onDone)
  }
  return (
    <Dialog title={`Rotate ${of.prefix}… ${of.label}`} act="Rotate" onSend={send} onClose={onClose}>
      <p>
        The new key has the same label, products, ranges and end, and shares the cap and what was spent under it. A key
        is replaced once.
      </p>
      <Choice
        label="The old key works for"
        value={grace.value}
        options={[
          ['0', 'no longer'],
          ['3600', 'an hour'],
          ['86400', 'a day'],
          ['604800', 'a week'],
          ['2592000', '30 days'],
        ]}
        onChoose={(seconds) => {
          grace.value = seconds
        }}
      />
    </Dialog>
  )
}

export function KeyShown({ issued, onClose }: { issued: Issued; onClose: () => void }) {
  const { key, prefix, label, warnings = [], old_key_ends: ends } = issued
  // It may have replaced the one that was signed in with.
  useEffect(() => {
    isShowing.value = true
    return () => {
      isShowing.value = false
    }
  }, [])
  return (
    <Dialog title={key ? 'The key, this once' : 'Made before'} onClose={onClose}>
      {key ? (
        <>
          <p>Copy it now: only its hash is kept, and nobody can show it again.</p>
          <Curl line={key} />
          {key.startsWith('cqt_') && (
            <>
              <p>To try it, in a terminal; the call is on this page some seconds later:</p>
              <Curl line={infoLine('{"type":"allMids"}', `'Authorization: Bearer ${key}'`)} />
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
