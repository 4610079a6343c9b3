// Modal dialogs. An action that cannot be undone is confirmed by typing the name of its target.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { RequestError } from '../request.dom.ts'
import { Button, bindInput } from './frame.tsx'
import { ErrorNote } from './parts.tsx'
import { DIALOG } from './strings.ts'

interface DialogProps {
  readonly title: string
  /** If omitted, the dialog submits nothing. */
  readonly submitLabel?: string
  readonly submitClass?: 'main' | 'danger'
  readonly isIncomplete?: boolean
  readonly children: ComponentChildren
  /** Null on success. Never runs twice in parallel. */
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
  const error = useSignal<RequestError | null>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const send = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value || isIncomplete || onSend === undefined) return
    isBusy.value = true
    error.value = await onSend()
    isBusy.value = false
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby={id}>
      <form onSubmit={send}>
        <h2 id={id}>{title}</h2>
        {children}
        <ErrorNote error={error.value} />
        <p class="beside">
          {submitLabel && (
            <button type="submit" class={submitClass} disabled={isIncomplete || isBusy.value}>
              {submitLabel}
            </button>
          )}
          <Button text={submitLabel ? DIALOG.cancel : DIALOG.close} onClick={() => dialog.current?.close()} />
        </p>
      </form>
    </dialog>
  )
}

interface ConfirmDialogProps {
  readonly action: string
  readonly submitClass?: 'main' | 'danger'
  readonly name: string
  /** Besides the name, which is always asked for. */
  readonly isIncomplete?: boolean
  readonly children: ComponentChildren
  /** Null on success; the dialog then closes. */
  readonly onConfirm: () => Promise<RequestError | null>
  readonly onClose: () => void
}

export function ConfirmDialog({
  action,
  submitClass = 'danger',
  name,
  isIncomplete = false,
  children,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  const typed = useSignal('')
  const id = useId()
  const confirm = async () => {
    const error = await onConfirm()
    if (error === null) onClose()
    return error
  }
  return (
    <Dialog
      title={action}
      submitLabel={action}
      submitClass={submitClass}
      isIncomplete={isIncomplete || typed.value !== name}
      onSend={confirm}
      onClose={onClose}
    >
      {children}
      <label for={id}>
        {DIALOG.type}
        <b>{name}</b>
        {DIALOG.toConfirm}
      </label>
      <input id={id} autocomplete="off" {...bindInput(typed)} />
    </Dialog>
  )
}

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, 'onClose'> {
  readonly buttonLabel: string
  /** Accessible name, needed if the text alone is ambiguous. */
  readonly label?: string
  readonly kind?: 'plain' | 'danger' | 'plain danger'
}

/** A button with a confirmation dialog. */
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
  /** Shows a date picker; days are UTC. */
  readonly isDay?: boolean
  readonly hint?: string
  readonly placeholder?: string
}

export function Field({ label, value, onText, isDay = false, hint, placeholder }: FieldProps) {
  const id = useId()
  const own = { id, value, onInput: (event: { currentTarget: HTMLInputElement }) => onText(event.currentTarget.value) }
  return (
    <>
      <label for={id}>
        {label} {hint && <small>{hint}</small>}
      </label>
      {isDay ? (
        <input {...own} type="date" />
      ) : (
        <input {...own} placeholder={placeholder} autocomplete="off" spellcheck={false} />
      )}
    </>
  )
}
