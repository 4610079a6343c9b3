// Making a key, or changing one.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ask } from '../ask.dom.ts'
import { Choice } from '../ui/choice.tsx'
import type { Issued, Key } from './answers.ts'
import { Dialog, Field } from './dialog.tsx'
import { keyOrder } from './key-order.ts'

const PRODUCTS = ['info', 'stream', 'rpc', 'graphql', 'data', 'platform']

interface KeyFormProps {
  /** Changed; left out: a new one. */
  readonly known?: Key
  readonly onDone: (issued: Issued | null) => void
  readonly onClose: () => void
}

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
  const send = async () => {
    const right = isApi ? '' : pipelines.value
    const bounds = { cap: cap.value, ranges: ranges.value, pipelines: right, expires: expires.value }
    const fields = { label: label.value, ...bounds }
    const order = keyOrder(fields, isApi ? products.value : ['platform'], known)
    const answer = known
      ? await ask<Issued>('PATCH', `/platform/keys/${known.hash}`, order)
      : await ask<Issued>('POST', '/platform/keys/', { ...order, kind: kind.value, idempotency_key: request.current })
    if (!answer.ok) return answer.error
    onDone(known ? null : answer.value)
    return null
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
