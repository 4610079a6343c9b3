// Forms inside a page: selects, filters kept in the URL, and forms that create or change something. Invariant: a secret
// in a response is shown once and never stored.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { navigate, params, urlWith } from '../address.dom.ts'
import type { RequestError, RequestResult } from '../request.dom.ts'
import { Button } from './frame.tsx'
import { ErrorNote, Snippet } from './parts.tsx'
import { FORM } from './strings.ts'

/** Displayed text by value. */
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

/** An uncontrolled field, read when the form is submitted. */
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

/** The filters of a list. */
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
      <button type="submit">{FORM.apply}</button>
    </form>
  )
}

interface ActionFormProps<Value> {
  readonly submitLabel: string
  readonly fields: readonly FormField[]
  /** `values` by field name, without empty ones. */
  readonly send: (values: Readonly<Record<string, string>>) => Promise<RequestResult<Value>>
  readonly onDone: (value: Value) => void
  /** The secret in the response, with its name. */
  readonly secretOf?: (value: Value) => { readonly name: string; readonly secret: string }
}

export function ActionForm<Value>({ submitLabel, fields, send, onDone, secretOf }: ActionFormProps<Value>) {
  const created = useSignal<Value | null>(null)
  const error = useSignal<RequestError | null>(null)
  const isBusy = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    const form = event.currentTarget as HTMLFormElement
    const values = Object.fromEntries(Object.entries(formValues(event)).filter(([, value]) => value !== ''))
    isBusy.value = true
    const result = await send(values)
    isBusy.value = false
    error.value = result.ok ? null : result.error
    if (!result.ok) return
    form.reset()
    created.value = result.value
    onDone(result.value)
  }
  const shown = created.value === null ? null : secretOf?.(created.value)
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
      <ErrorNote error={error.value} />
      {shown && (
        <div class="note" role="status">
          <p>{FORM.shownOnce(shown.name)}</p>
          <Snippet line={shown.secret} />
          <Button text={FORM.saved} onClick={() => (created.value = null)} />
        </div>
      )}
    </>
  )
}
