// Forms that stand over the page until they are sent or left; what cannot be undone is confirmed by typing its name.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Trouble } from '../ask.dom.ts'
import { Button, typed } from './frame.tsx'
import { TroubleNote } from './parts.tsx'

interface DialogProps {
  readonly title: string
  /** What its button says; left out: there is nothing to send. */
  readonly act?: string
  readonly actClass?: 'main' | 'danger'
  /** It may not be sent yet. */
  readonly isIncomplete?: boolean
  readonly children: ComponentChildren
  /** Null: done. Called once at a time, however often it is clicked. */
  readonly onSend?: () => Promise<Trouble | null>
  readonly onClose: () => void
}

export function Dialog({ title, act, actClass = 'main', isIncomplete = false, children, ...props }: DialogProps) {
  const { onSend, onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const isBusy = useSignal(false)
  const trouble = useSignal<Trouble | null>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const send = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value || isIncomplete || onSend === undefined) return
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
            <button type="submit" class={actClass} disabled={isIncomplete || isBusy.value}>
              {act}
            </button>
          )}
          <Button text={act ? 'Cancel' : 'Close'} onClick={() => dialog.current?.close()} />
        </p>
      </form>
    </dialog>
  )
}

interface ConfirmProps {
  readonly act: string
  readonly name: string
  readonly children: ComponentChildren
  /** Null: done, and the dialog closes. */
  readonly onConfirm: () => Promise<Trouble | null>
  readonly onClose: () => void
}

export function Confirm({ act, name, children, onConfirm, onClose }: ConfirmProps) {
  const words = useSignal('')
  const id = useId()
  const confirm = async () => {
    const trouble = await onConfirm()
    if (trouble === null) onClose()
    return trouble
  }
  const isIncomplete = words.value !== name
  return (
    <Dialog title={act} act={act} actClass="danger" isIncomplete={isIncomplete} onSend={confirm} onClose={onClose}>
      {children}
      <label for={id}>
        Type <b>{name}</b> to confirm
      </label>
      <input id={id} autocomplete="off" {...typed(words)} />
    </Dialog>
  )
}

interface ActProps extends Omit<ConfirmProps, 'onClose'> {
  readonly text: string
  /** For who does not see beside what it stands. */
  readonly label?: string
  readonly kind?: 'plain' | 'danger'
}

/** A button, and the dialog that confirms what it does. */
export function Act({ text, label, kind = 'plain', ...confirm }: ActProps) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button text={text} class={kind} aria-label={label} onClick={() => (isOpen.value = true)} />
      {isOpen.value && <Confirm {...confirm} onClose={() => (isOpen.value = false)} />}
    </>
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
