// Inputs of the steps, each with the error of its field.

import { useId } from 'preact/hooks'
import { Button } from '../ui/frame.tsx'
import * as strings from './pipeline-wizard-strings.ts'

interface InputProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly error: string | null
  readonly onText: (text: string) => void
}

interface TextInputProps extends InputProps {
  readonly type?: 'text' | 'password'
  readonly isRequired?: boolean
  readonly placeholder?: string
  readonly maxLength?: number
}

export function TextInput({ label, hint, error, onText, type = 'text', isRequired = false, ...own }: TextInputProps) {
  const id = useId()
  return (
    <div class="input">
      <label for={id}>{label}</label>
      <input
        {...own}
        id={id}
        {...(type === 'password' ? { type } : {})}
        required={isRequired}
        autocomplete={type === 'password' ? 'new-password' : 'off'}
        spellcheck={false}
        aria-invalid={error !== null}
        aria-describedby={`${id}-hint ${id}-error`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <Notes id={id} hint={hint} error={error} />
    </div>
  )
}

/** For JSON and SQL. */
export function TextArea({ label, hint, value, error, onText }: InputProps) {
  const id = useId()
  return (
    <div class="input">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        value={value}
        rows={Math.min(12, Math.max(3, value.split('\n').length))}
        spellcheck={false}
        aria-invalid={error !== null}
        aria-describedby={`${id}-hint ${id}-error`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <Notes id={id} hint={hint} error={error} />
    </div>
  )
}

interface NotesProps {
  readonly id: string
  readonly hint: string | undefined
  readonly error: string | null
}

function Notes({ id, hint, error }: NotesProps) {
  return (
    <>
      <small id={`${id}-hint`}>{hint}</small>
      <span id={`${id}-error`} class="wrong" role="alert">
        {error}
      </span>
    </>
  )
}

interface StepButtonsProps {
  readonly onBack: () => void
  readonly submitLabel: string
}

export function StepButtons({ onBack, submitLabel }: StepButtonsProps) {
  return (
    <p class="beside">
      <button type="submit" class="main">
        {submitLabel}
      </button>
      <Button text={strings.back} onClick={onBack} />
    </p>
  )
}
