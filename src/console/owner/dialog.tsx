// A form that stands over the page until it is sent or left.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Trouble } from '../ask.dom.ts'
import { TroubleNote } from '../ui/trouble.tsx'

interface DialogProps {
  readonly title: string
  /** What its button says; left out: there is nothing to send. */
  readonly act?: string
  readonly children: ComponentChildren
  /** Null: done. Called once at a time, however often it is clicked. */
  readonly onSend?: () => Promise<Trouble | null>
  readonly onClose: () => void
}

export function Dialog({ title, act, children, onSend, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isBusy = useSignal(false)
  const trouble = useSignal<Trouble | null>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const send = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value || onSend === undefined) return
    isBusy.value = true
    trouble.value = await onSend()
    isBusy.value = false
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby={id}>
      <form onSubmit={send}>
        <h2 id={id}>{title}</h2>
        {children}
        <TroubleNote trouble={trouble.value} />
        <p class="beside">
          {act && (
            <button type="submit" class="main" disabled={isBusy.value}>
              {act}
            </button>
          )}
          <button type="button" onClick={() => dialog.current?.close()}>
            {act ? 'Cancel' : 'Close'}
          </button>
        </p>
      </form>
    </dialog>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
  /** A UTC day is chosen. */
  readonly isDay?: boolean
  readonly hint?: string
}

export function Field({ label, value, onText, isDay = false, hint }: FieldProps) {
  const id = useId()
  const own = { id, value, onInput: (event: { currentTarget: HTMLInputElement }) => onText(event.currentTarget.value) }
  return (
    <>
      <label for={id}>
        {label} {hint && <small>{hint}</small>}
      </label>
      {isDay ? <input {...own} type="date" /> : <input {...own} autocomplete="off" spellcheck={false} />}
    </>
  )
}
