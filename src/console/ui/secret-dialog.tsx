// A dialog with a secret that is shown once. Invariants: it closes only after the secret was copied, or the reader said
// that it is saved; leaving the page before that asks first; meanwhile the page does not change with the session.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { isSecretShown } from '../session.dom.ts'
import { Snippet } from './parts.tsx'
import { SECRET } from './strings.ts'

interface SecretDialogProps {
  readonly title: string
  readonly text: string
  readonly secret: string
  readonly children?: ComponentChildren
  readonly onClose: () => void
}

export function SecretDialog({ title, text, secret, children, onClose }: SecretDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isSaved = useSignal(false)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => {
    isSecretShown.value = true
    return () => {
      isSecretShown.value = false
    }
  }, [])
  useUnloadWarning(() => !isSaved.value)
  const save = () => {
    isSaved.value = true
  }
  // Chromium ends a dialog on the second Esc even if the first was prevented, so the key itself is prevented.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !isSaved.value) event.preventDefault()
  }
  const onCancel = (event: Event) => {
    if (!isSaved.value) event.preventDefault()
  }
  const closed = () => {
    if (isSaved.value) onClose()
    else dialog.current?.showModal()
  }
  return (
    <dialog ref={dialog} class="secret" aria-labelledby={id} onKeyDown={onKeyDown} onCancel={onCancel} onClose={closed}>
      <h2 id={id}>{title}</h2>
      <p>{text}</p>
      <Snippet line={secret} isMain onCopied={save} />
      {children}
      <p>
        <label class="inline check">
          <input
            type="checkbox"
            checked={isSaved.value}
            onChange={(event) => (isSaved.value = event.currentTarget.checked)}
          />
          {SECRET.saved}
        </label>
      </p>
      <p class="beside">
        <button type="button" class="main" disabled={!isSaved.value} onClick={() => dialog.current?.close()}>
          {SECRET.done}
        </button>
      </p>
      {!isSaved.value && <p class="soft">{SECRET.first}</p>}
    </dialog>
  )
}

/** The browser asks before it leaves the page. */
export function useUnloadWarning(isNeeded: () => boolean): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (isNeeded()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
}
