// Forms in the page: one of a few, filters that stand in its address, and what has something made or changed. Invariant: a
// secret in an answer is on the page once, and in nothing that is kept.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { navigate, params, urlWith } from '../address.dom.ts'
import type { RequestError, RequestResult } from '../request.dom.ts'
import { Button } from './frame.tsx'
import { ErrorNote, Snippet } from './parts.tsx'

/** By value: what is shown. */
type Options = Readonly<Record<string, string>>

const optionElements = (options: Options, chosen?: string) =>
  Object.entries(options).map(([value, text]) => (
    <option key={value} value={value} selected={value === chosen}>
      {text}
    </option>
  ))

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly options: Options
  readonly onSelect: (value: string) => void
}

export function Select({ label, value, options, onSelect }: SelectProps) {
  const id = useId()
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onSelect(event.currentTarget.value)}>
        {optionElements(options)}
      </select>
    </span>
  )
}

/** A field of a form that is read when it is sent. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly type?: 'date'
  readonly options?: Options
  readonly isOptional?: boolean
  readonly pattern?: string
  readonly title?: string
}

function Field({ name, label, type, options, value, isOptional, ...more }: FormField & { readonly value?: string }) {
  const id = useId()
  const own = {
    id,
    name,
    required: !isOptional,
    maxLength: 100,
    autocomplete: 'off',
    defaultValue: value ?? '',
    ...more,
  }
  return (
    <p>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} name={name}>
          {optionElements(options, value)}
        </select>
      ) : type === 'date' ? (
        <input type="date" {...own} />
      ) : (
        <input type="text" {...own} />
      )}
    </p>
  )
}

const formValues = (event: Event): Record<string, string> =>
  Object.fromEntries(
    [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [name, String(value).trim()]),
  )

/** What a list is narrowed by. */
export function Filters({ fields }: { readonly fields: readonly FormField[] }) {
  const submit = (event: Event) => {
    event.preventDefault()
    navigate(urlWith(formValues(event)))
  }
  return (
    <form class="filters" onSubmit={submit}>
      {fields.map((field) => {
        const value = params.value.get(field.name) ?? ''
        return <Field key={`${field.name} ${value}`} {...field} isOptional value={value} />
      })}
      <button type="submit">Show</button>
    </form>
  )
}

interface ActionFormProps<Answer> {
  readonly submitLabel: string
  readonly fields: readonly FormField[]
  /** `values`: by the names of the fields; empty ones are left out. */
  readonly send: (values: Readonly<Record<string, string>>) => Promise<RequestResult<Answer>>
  readonly onDone: (answer: Answer) => void
  /** The secret that was made, with what it is. */
  readonly secretOf?: (answer: Answer) => { readonly what: string; readonly secret: string }
}

export function ActionForm<Answer>({ submitLabel, fields, send, onDone, secretOf }: ActionFormProps<Answer>) {
  const made = useSignal<Answer | null>(null)
  const trouble = useSignal<RequestError | null>(null)
  const isBusy = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    const form = event.currentTarget as HTMLFormElement
    const values = Object.fromEntries(Object.entries(formValues(event)).filter(([, value]) => value !== ''))
    isBusy.value = true
    const answer = await send(values)
    isBusy.value = false
    trouble.value = answer.ok ? null : answer.error
    if (!answer.ok) return
    form.reset()
    made.value = answer.value
    onDone(answer.value)
  }
  const shown = made.value === null ? null : secretOf?.(made.value)
  return (
    <>
      <form class="filters" onSubmit={submit}>
        {fields.map((field) => (
          <Field key={field.name} {...field} />
        ))}
        <button type="submit" disabled={isBusy.value}>
          {submitLabel}
        </button>
      </form>
      <ErrorNote trouble={trouble.value} />
      {shown && (
        <div class="note" role="status">
          <p>{shown.what}, shown this once:</p>
          <Snippet line={shown.secret} />
          <Button text="I have kept it" onClick={() => (made.value = null)} />
        </div>
      )}
    </>
  )
}
