// What cannot be undone is confirmed by typing its name.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Trouble } from '../ask.dom.ts'
import { TroubleNote } from './trouble.tsx'

interface ConfirmProps {
  /** What happens: "Revoke this key". */
  readonly act: string
  /** What has to be typed. */
  readonly name: string
  /** What that means. */
  readonly children: ComponentChildren
  /** Null: done, and the dialog closes. */
  readonly onConfirm: () => Promise<Trouble | null>
  readonly onClose: () => void
}

export function Confirm({ act, name, children, onConfirm, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const trouble = useSignal<Trouble | null>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const confirm = async (event: Event) => {
    event.preventDefault()
    if (typed.value !== name || isBusy.value) return
    isBusy.value = true
    trouble.value = await onConfirm()
    isBusy.value = false
    if (trouble.value === null) onClose()
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby={`${id}t`}>
      <form onSubmit={confirm}>
        <h2 id={`${id}t`}>{act}</h2>
        {children}
        <label for={id}>
          Type <b>{name}</b> to confirm
        </label>
        <input
          id={id}
          autocomplete="off"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <TroubleNote trouble={trouble.value} />
        <p class="beside">
          <button type="submit" class="danger" disabled={typed.value !== name || isBusy.value}>
            {act}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  )
}
