// Forms that stand over the page until they are sent or left; what cannot be undone is confirmed by typing its name.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { RequestError } from '../request.dom.ts'
import { Button, bindInput } from './frame.tsx'
import { ErrorNote } from './parts.tsx'

interface DialogProps {
  readonly title: string
  /** What its button says; left out: there is nothing to send. */
  readonly submitLabel?: string
  readonly submitClass?: 'main' | 'danger'
  /** It may not be sent yet. */
  readonly isIncomplete?: boolean
  readonly children: ComponentChildren
  /** Null: done. Called once at a time, however often it is clicked. */
  readonly onSend?: () => Promise<RequestError | null>
  readonly onClose: () => void
}

export function Dialog({
  title,
  submitLabel,
  submitClass = 'main',
  isIncomplete = false,
  children,
  ...props
}: DialogProps) {
  const { onSend, onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const isBusy = useSignal(false)
  const trouble = useSignal<RequestError | null>(null)
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
        <ErrorNote trouble={trouble.value} />
        <p class="beside">
          {submitLabel && (
            <button type="submit" class={submitClass} disabled={isIncomplete || isBusy.value}>
              {submitLabel}
            </button>
          )}
          <Button text={submitLabel ? 'Cancel' : 'Close'} onClick={() => dialog.current?.close()} />
        </p>
      </form>
    </dialog>
  )
}

interface ConfirmDialogProps {
  readonly action: string
  readonly name: string
  readonly children: ComponentChildren
  /** Null: done, and the dialog closes. */
  readonly onConfirm: () => Promise<RequestError | null>
  readonly onClose: () => void
}

export function ConfirmDialog({ action, name, children, onConfirm, onClose }: ConfirmDialogProps) {
  const words = useSignal('')
  const id = useId()
  const confirm = async () => {
    const trouble = await onConfirm()
    if (trouble === null) onClose()
    return trouble
  }
  const isIncomplete = words.value !== name
  return (
    <Dialog
      title={action}
      submitLabel={action}
      submitClass="danger"
      isIncomplete={isIncomplete}
      onSend={confirm}
      onClose={onClose}
    >
      {children}
      <label for={id}>
        Type <b>{name}</b> to confirm
      </label>
      <input id={id} autocomplete="off" {...bindInput(words)} />
    </Dialog>
  )
}

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, 'onClose'> {
  readonly buttonLabel: string
  /** For who does not see beside what it stands. */
  readonly label?: string
  readonly kind?: 'plain' | 'danger'
}

/** A button, and the dialog that confirms what it does. */
export function ConfirmButton({ buttonLabel, label, kind = 'plain', ...confirm }: ConfirmButtonProps) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button text={buttonLabel} class={kind} aria-label={label} onClick={() => (isOpen.value = true)} />
      {isOpen.value && <ConfirmDialog {...confirm} onClose={() => (isOpen.value = false)} />}
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
