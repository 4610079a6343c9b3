// What a list is narrowed by, which stands in the page's address.

import { useId } from 'preact/hooks'
import { addressWith, go, params } from '../address.dom.ts'

export interface FilterField {
  /** Of the parameter. */
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'date'
  /** Values to choose from; the empty one is all. */
  readonly options?: readonly string[]
}

export function Filters({ fields }: { readonly fields: readonly FilterField[] }) {
  const submit = (event: Event) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    go(addressWith(Object.fromEntries(fields.map(({ name }) => [name, String(data.get(name) ?? '').trim()]))))
  }
  return (
    <form class="filters" onSubmit={submit}>
      {fields.map((field) => (
        <Field
          key={`${field.name} ${params.value.get(field.name)}`}
          {...field}
          value={params.value.get(field.name) ?? ''}
        />
      ))}
      <button type="submit">Show</button>
    </form>
  )
}

function Field({ name, label, type, options, value }: FilterField & { readonly value: string }) {
  const id = useId()
  const shared = { id, name, maxLength: 100, defaultValue: value }
  return (
    <p>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} name={name}>
          <option value="">all</option>
          {options.map((option) => (
            <option key={option} selected={option === value}>
              {option}
            </option>
          ))}
        </select>
      ) : type === 'date' ? (
        <input type="date" {...shared} />
      ) : (
        <input type="text" {...shared} />
      )}
    </p>
  )
}
