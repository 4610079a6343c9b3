// A form that has something made, or changed. Law: a secret in the answer is on the page once, and in nothing that is kept.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Asked, Trouble } from '../ask.dom.ts'
import { Curl } from '../ui/curl.tsx'
import { TroubleNote } from '../ui/trouble.tsx'

export interface OrderField {
  readonly name: string
  readonly label: string
  /** To choose from; left out: text. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isOptional?: boolean
  readonly pattern?: string
  /** Said of a text that the pattern refuses. */
  readonly title?: string
}

interface OrderFormProps<Answer> {
  readonly act: string
  readonly fields: readonly OrderField[]
  /** `values`: by the names of the fields; empty ones are left out. */
  readonly send: (values: Readonly<Record<string, string>>) => Promise<Asked<Answer>>
  readonly onDone: (answer: Answer) => void
  /** The secret that was made, with what it is. */
  readonly once?: (answer: Answer) => { readonly what: string; readonly secret: string }
}

export function OrderForm<Answer>({ act, fields, send, onDone, once }: OrderFormProps<Answer>) {
  const made = useSignal<Answer | null>(null)
  const trouble = useSignal<Trouble | null>(null)
  const isBusy = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    const form = event.currentTarget as HTMLFormElement
    const typed = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()] as const)
    isBusy.value = true
    const answer = await send(Object.fromEntries(typed.filter(([, value]) => value !== '')))
    isBusy.value = false
    trouble.value = answer.ok ? null : answer.error
    if (!answer.ok) return
    form.reset()
    made.value = answer.value
    onDone(answer.value)
  }
  const shown = made.value === null ? null : once?.(made.value)
  return (
    <>
      <form class="filters" onSubmit={submit}>
        {fields.map((field) => (
          <Field key={field.name} {...field} />
        ))}
        <button type="submit" disabled={isBusy.value}>
          {act}
        </button>
      </form>
      <TroubleNote trouble={trouble.value} />
      {shown && (
        <div class="note" role="status">
          <p>{shown.what}, shown this once:</p>
          <Curl line={shown.secret} />
          <button type="button" onClick={() => (made.value = null)}>
            I have kept it
          </button>
        </div>
      )}
    </>
  )
}

function Field({ name, label, options, isOptional = false, ...text }: OrderField) {
  const id = useId()
  return (
    <p>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} name={name}>
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      ) : (
        <input id={id} name={name} required={!isOptional} maxLength={100} autocomplete="off" {...text} />
      )}
    </p>
  )
}
